import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectLawful } from '../../test/laws.js';
import { parseAs } from '../../test/parse-file.js';

const SOURCE = String.raw`\documentclass{article}
\title{Care of \emph{Kettles}}
\begin{document}
\maketitle

\section{Daily care\label{sec:daily}}
Fill the kettle 50\% full. % not more
\subsection*{Descaling}
\begin{itemize}
  \item Use vinegar.
  \item Rinse twice.
\end{itemize}

\begin{equation}
  t = \frac{m c}{P}. \label{eq:t}

\end{equation}
As in
\[
a = b.
\]
or $$c = d.$$

\begin{table}
\caption{Times}
\begin{tabular}{lr}
\toprule
Name & Time \\
\midrule
Small & 2 \\
Large \& tall & \textbf{4} \\
\bottomrule
\end{tabular}
\end{table}

\begin{verbatim}
\section{no heading}
\end{verbatim}

\begin{quote}
Never leave it.
\end{quote}
\end{document}
`;

describe('LaTeX', () => {
  it('has headings, formulas, tables, code and quotes', async () => {
    const document = await parseAs('a.tex', SOURCE);
    expectLawful(document);
    expect(document.text).toBe(SOURCE);
    expect(document.format).toBe('latex');
    expect(document.metadata).toEqual({ doc_title: 'Care of Kettles' });
    expect(document.elements.filter(({ kind }) => kind === 'heading').map(({ level, title }) => [level, title])).toEqual([
      [1, 'Daily care'],
      [2, 'Descaling'],
    ]);
    const ofKind = (kind: string) => document.elements.filter((element) => element.kind === kind);
    expect(ofKind('formula').map(({ text }) => text.split('\n')[0])).toEqual(['\\begin{equation}', '\\[']);
    expect(ofKind('code').map(({ text }) => text)).toEqual(['\\begin{verbatim}\n\\section{no heading}\n\\end{verbatim}']);
    expect(ofKind('quote').map(({ text }) => text)).toEqual(['\\begin{quote}\nNever leave it.\n\\end{quote}']);
    expect(ofKind('table').map(({ rows, headerRows }) => [headerRows, rows])).toEqual([
      [
        1,
        [
          ['Name', 'Time'],
          ['Small', '2'],
          ['Large & tall', '4'],
        ],
      ],
    ]);
  });

  it('keeps its laws on any lines', async () => {
    const line = fc.constantFrom(
      '',
      '\\section{A}',
      '\\section{',
      '}',
      '\\[',
      '\\]',
      '$$',
      '$$x$$',
      '\\begin{tabular}{l}',
      '\\end{tabular}',
      'a & b \\\\',
      '\\hline',
      '\\begin{verbatim}',
      '\\end{verbatim}',
      '\\item x',
      '% c',
      'text',
      '\\title{T',
      '\\begin{equation}',
      '\\end{equation}',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 30 }), async (lines) => {
        expectLawful(await parseAs('a.tex', lines.join('\n')));
      }),
      { numRuns: 300 },
    );
  });

  it('is linear in what is never closed', async () => {
    for (const line of [
      '\\begin{verbatim}',
      '\\section{',
      '\\[',
      '$$',
      '\\begin{tabular}',
      '{',
      '\\title{',
      '\\begin{',
      '\\section[',
      '\\\\[',
      '& ',
    ])
      expectLawful(await parseAs('a.tex', `${line}\n`.repeat(20_000)));
  });
});
