import * as make from '../bench/make-documents.js';
import * as open from '../bench/make-open-formats.js';

export interface FuzzSeed {
  format: string;
  name: string;
  bytes: Uint8Array;
  /** Its parts may be damaged one by one. */
  isPackage: boolean;
}

const text = (content: string): Uint8Array => new TextEncoder().encode(content);

/** Small documents that use much of their format. */
export function fuzzSeeds(): FuzzSeed[] {
  const plain = (format: string, name: string, bytes: Uint8Array): FuzzSeed => ({ format, name, bytes, isPackage: false });
  const office = (format: string, name: string, bytes: Uint8Array): FuzzSeed => ({ format, name, bytes, isPackage: true });
  return [
    plain('text', 'a.txt', text(`First é 上不.\n\n- one\n- two\n\n${make.paragraph(1)}\n`)),
    plain('text', 'utf16.txt', new Uint8Array(Buffer.from('\ufeffPlan 上不 done\r\nLine two 😀\n', 'utf16le'))),
    plain(
      'markdown',
      'a.md',
      text(
        `---\ntitle: Plan\ntags: [x, y]\n---\n${Buffer.from(make.makeMarkdown(3)).toString()}\n> quote\n\n1. a\n   - b\n\n<div>x</div>\n\n[^1]: note\n`,
      ),
    ),
    plain('html', 'a.html', make.makeHtml(3)),
    plain(
      'html',
      'b.html',
      text(
        '<html><body><nav><a href=x>n</a></nav><table><tr><td rowspan=2 colspan=3>a<table><tr><td>b</table><td>c</table><pre>x\n y</pre><dl><dt>t<dd>d</dl><blockquote>q</blockquote>&eacute;&#0;&#xD800;<ul><li>a<ol><li>b</ol></ul>',
      ),
    ),
    plain('pdf', 'a.pdf', make.makePdf(2)),
    office('docx', 'a.docx', make.makeDocx(4)),
    office('pptx', 'a.pptx', make.makePptx(3)),
    office('xlsx', 'a.xlsx', make.makeXlsx(5)),
    plain('csv', 'a.csv', make.makeCsv(5)),
    plain('csv', 'a.tsv', text('id\tname\n1\t"a\tb"\n2\tc "d" e\n')),
    plain('json', 'a.json', make.makeJson(8)),
    plain('jsonl', 'a.jsonl', make.makeJsonLines(4)),
    plain(
      'eml',
      'a.eml',
      text(
        'From: =?ISO-8859-1?Q?Zo=EB?= <z@example.test>\r\nTo: a: b@example.test;\r\nSubject: =?UTF-8?B?w5xiZXI=?=\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="OUT"\r\n\r\n--OUT\r\nContent-Type: text/html; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>Caf=E9</p>\r\n--OUT\r\nContent-Type: message/rfc822\r\n\r\nFrom: b@example.test\r\nSubject: Inner\r\n\r\nInner text\r\n--OUT\r\nContent-Type: text/csv; name="a.csv"\r\nContent-Disposition: attachment; filename="a.csv"\r\n\r\na,b\r\n1,2\r\n--OUT--\r\n',
      ),
    ),
    office('epub', 'a.epub', open.makeEpub(['<h1>One</h1><p>Fill it.</p>', '<ul><li>a</li></ul>'])),
    office(
      'odf',
      'a.odt',
      open.makeOdf(
        'text',
        '<text:h text:outline-level="1">Care</text:h><text:p>Fill<text:s/>it.<text:note><text:note-body><text:p>n</text:p></text:note-body></text:note></text:p><text:list><text:list-item><text:p>a</text:p></text:list-item></text:list><table:table><table:table-row><table:table-cell table:number-columns-spanned="2" table:number-rows-spanned="2"><text:p>x</text:p></table:table-cell><table:covered-table-cell/></table:table-row></table:table>',
      ),
    ),
    office(
      'odf',
      'a.ods',
      open.makeOdf(
        'spreadsheet',
        '<table:table table:name="S"><table:table-row table:number-rows-repeated="3"><table:table-cell table:number-columns-repeated="2"><text:p>1</text:p></table:table-cell></table:table-row></table:table>',
      ),
    ),
    plain(
      'rtf',
      'a.rtf',
      open.makeRtf(
        "\\pard\\s1 Care\\par\\pard caf\\'e9 {\\super 6}\\u8364?{\\footnote n}\\par{\\listtext 1.}one\\par\\trowd\\intbl a\\cell b\\cell\\row",
      ),
    ),
    plain(
      'ipynb',
      'a.ipynb',
      text('{"cells":[{"cell_type":"markdown","source":["# a"]},{"cell_type":"code","source":"x","outputs":[{"text":["y"]}]}]}'),
    ),
    plain(
      'subtitles',
      'a.srt',
      text('1\n00:00:01,000 --> 00:00:02,000\n<i>Hello</i>\n\n2\n00:00:03,000 --> 00:00:04,000\nthere.\n'),
    ),
    plain(
      'mbox',
      'a.mbox',
      text('From a@b Tue Mar  5 10:00:00 2024\nSubject: S\n\nText\n\nFrom a@b Tue Mar  5 10:00:00 2024\nSubject: T\n\n>From x\n'),
    ),
    plain(
      'yaml',
      'a.yaml',
      text(`# c\na: 1\nb:\n- x: "q"\n  y: |\n    t\n---\nc: {d: [e]}\n${'k: value of some length\n'.repeat(40)}`),
    ),
    plain(
      'xml',
      'a.xml',
      text(
        `<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY e "x">]>\n<a b="c">\n<!-- n -->\n${'<r i="1"><n>t &amp; u</n><![CDATA[<x>]]></r>\n'.repeat(30)}</a>`,
      ),
    ),
    plain(
      'latex',
      'a.tex',
      text(
        '\\documentclass{article}\n\\title{T}\n\\begin{document}\n\\section{One}\nText $a$.\n\\[\nx\n\\]\n\\begin{tabular}{ll}\na & b \\\\ \\hline\nc & d\n\\end{tabular}\n\\begin{verbatim}\n\\section{x}\n\\end{verbatim}\n\\begin{itemize}\n\\item a\n\\end{itemize}\n\\end{document}\n',
      ),
    ),
    plain('code', 'a.ts', make.makeCode(3)),
    plain('code', 'a.py', text('import os\n\n# c\n@d\nclass A(B):\n    """x"""\n    def f(self):\n        return 1\n')),
    plain('code', 'a.rs', text('/// d\n#[a]\npub struct S { a: i32 }\nimpl S {\n    fn f(&self) {}\n}\n')),
    plain('code', 'a.cpp', text('#include <x>\nnamespace n { template <class T> class K { void m() {} }; }\n')),
    plain('code', 'a.sh', text('#!/bin/bash\nf() {\n  cat <<X\n$1\nX\n}\n')),
    plain(
      'sql',
      'a.sql',
      text("CREATE FUNCTION f() AS $$ BEGIN; END $$;\nINSERT INTO t VALUES ('a;''b'); -- c;\nDELIMITER //\nSELECT 1//\n"),
    ),
  ];
}
