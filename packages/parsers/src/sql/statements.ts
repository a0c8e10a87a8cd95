/** Comments, quoted texts and names, dollar quotes, words and marks that bear on where a statement ends. */
const TOKEN =
  /--[^\n]*|#[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^'\\]|''|\\[\s\S])*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`[^`]*(?:`|$)|\$(\w*)\$[\s\S]*?(?:\$\1\$|$)|;|\/\/|\$\$|[A-Za-z_]\w*/g;

const ROUTINE = /^(?:function|procedure|trigger|package|event|body)$/i;

/**
 * Offsets at which statements end, behind their delimiter. Bodies of functions, procedures and triggers belong to their statement;
 * `DELIMITER` of MySQL clients and `GO` lines of SQL Server are known.
 */
export function* statementEnds(text: string): Generator<number> {
  let delimiter = ';';
  let words = 0;
  let isCreate = false;
  let isRoutine = false;
  let depth = 0;
  let before = '';
  const reset = (): void => {
    words = 0;
    isCreate = false;
    isRoutine = false;
    depth = 0;
  };
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const token = match[0];
    if (token === delimiter) {
      if (depth > 0) continue;
      yield TOKEN.lastIndex;
      reset();
      continue;
    }
    // MySQL's # is an operator elsewhere; only at a line's start is it surely a comment.
    if (token.startsWith('#') && !isLineStart(text, match.index)) TOKEN.lastIndex = match.index + 1;
    if (!/^[A-Za-z_]/.test(token)) continue;
    const word = token.toLowerCase();
    words++;
    if (words === 1 && word === 'delimiter') {
      const line = text.slice(TOKEN.lastIndex, endOfLine(text, TOKEN.lastIndex));
      delimiter = line.trim() || ';';
      TOKEN.lastIndex += line.length;
      yield TOKEN.lastIndex;
      reset();
      continue;
    }
    if (
      word === 'go' &&
      isLineStart(text, match.index) &&
      /^\s*\d*\s*$/.test(text.slice(TOKEN.lastIndex, endOfLine(text, TOKEN.lastIndex)))
    ) {
      yield endOfLine(text, TOKEN.lastIndex);
      reset();
      continue;
    }
    if (words === 1 && (word === 'create' || word === 'alter')) isCreate = true;
    if (isCreate && words < 8 && ROUTINE.test(word)) isRoutine = true;
    if (isRoutine && delimiter === ';') {
      if (word === 'begin' || (word === 'case' && depth > 0 && before !== 'end')) depth++;
      else if (
        word === 'end' &&
        depth > 0 &&
        !/^\s*(?:if|loop|while|for|repeat)\b/i.test(text.slice(TOKEN.lastIndex, TOKEN.lastIndex + 12))
      )
        depth--;
    }
    before = word;
  }
}

function endOfLine(text: string, from: number): number {
  const newline = text.indexOf('\n', from);
  return newline < 0 ? text.length : newline;
}

function isLineStart(text: string, at: number): boolean {
  return text.slice(text.lastIndexOf('\n', at - 1) + 1, at).trim() === '';
}
