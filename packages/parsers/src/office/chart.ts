import type { DocumentBuilder } from '../document-builder.js';
import { formatCell, meaningOf } from '../xlsx/number-format.js';
import type { XmlNode } from '../xml/xml-events.js';
import { attribute, child, childNodes, descend, textContent } from '../xml/xml-node.js';

/** What a chart says: its title, and its numbers as tables, a column a series. */
export interface Chart {
  title: string;
  tables: string[][][];
}

interface Series {
  name: string;
  categories: ReadonlyMap<number, string>;
  values: ReadonlyMap<number, string>;
}

/** Points that are read of a chart. */
const MAX_POINTS = 20_000;

/** Reads a chart part (ECMA-376 part 1, 21.2) with the values that were saved with it. */
export function readChart(root: XmlNode | undefined): Chart | undefined {
  const chart = child(root, 'chart');
  const plot = child(chart, 'plotArea');
  if (plot === undefined) return undefined;
  const series = childNodes(plot)
    .filter(({ name }) => name.endsWith('Chart'))
    .flatMap((kind) => childNodes(kind, 'ser'))
    .map(readSeries);
  const axis = childNodes(plot).find(({ name }) => name === 'catAx' || name === 'dateAx');
  return { title: titleOf(chart), tables: tablesOf(series, titleOf(axis)) };
}

/** The title as a caption, the numbers as tables. */
export function writeChart(builder: DocumentBuilder, chart: Chart, place: { page?: number } = {}): void {
  builder.block('caption', chart.title, place);
  for (const rows of chart.tables) builder.table(rows, { headerRows: 1, ...place });
}

function titleOf(node: XmlNode | undefined): string {
  const text = descend(node, 'title', 'tx');
  const paragraphs = childNodes(child(text, 'rich'), 'p').map((paragraph) =>
    childNodes(paragraph, 'r')
      .map((run) => textContent(child(run, 't')))
      .join(''),
  );
  return [...paragraphs, ...pointsOf(child(text, 'strRef')).values()].join(' ').trim();
}

function readSeries(node: XmlNode): Series {
  const name = child(node, 'tx');
  return {
    name: [...pointsOf(child(name, 'strRef')).values(), textContent(child(name, 'v'))].join(' ').trim(),
    categories: pointsOf(childNodes(child(node, 'cat') ?? child(node, 'xVal'))[0]),
    values: pointsOf(childNodes(child(node, 'val') ?? child(node, 'yVal'))[0]),
  };
}

/** Texts or numbers by their index: of a reference's cache, or as they stand. Levels of categories are joined, the outermost first. */
function pointsOf(source: XmlNode | undefined): Map<number, string> {
  const cache = childNodes(source).find(({ name }) => /^(?:str|num|multiLvlStr)Cache$/.test(name)) ?? source;
  const points = new Map<number, string>();
  const levels = childNodes(cache, 'lvl');
  if (levels.length > 0) {
    const inner = pointsOf(levels[0]);
    const outer = levels.slice(1).reverse().map(pointsOf);
    for (const [index, text] of inner)
      points.set(index, [...outer.map((level) => atOrBefore(level, index)), text].filter(Boolean).join(', '));
    return points;
  }
  const meaning = meaningOf(0, textContent(child(cache, 'formatCode')) || undefined);
  for (const point of childNodes(cache, 'pt').slice(0, MAX_POINTS)) {
    const text = textContent(child(point, 'v')).trim();
    const isNumber = cache?.name.startsWith('num') === true && text !== '' && Number.isFinite(Number(text));
    points.set(Number(attribute(point, 'idx') ?? points.size), isNumber ? formatCell(Number(text), meaning, false) : text);
  }
  return points;
}

function atOrBefore(level: ReadonlyMap<number, string>, index: number): string {
  const at = [...level.keys()].filter((key) => key <= index).at(-1);
  return at === undefined ? '' : (level.get(at) ?? '');
}

/** One table where the series have the same categories, else one each. */
function tablesOf(series: readonly Series[], axis: string): string[][][] {
  const [first, ...rest] = series;
  if (first === undefined) return [];
  const shared = rest.every(({ categories }) => categories.size === 0 || sameTexts(categories, first.categories));
  return (shared ? [series] : series.map((one) => [one])).map((group) => {
    const indexes = new Set(group.flatMap(({ categories, values }) => [...categories.keys(), ...values.keys()]));
    const names = group.map(({ name }, at) => name || (group.length > 1 ? `Series ${at + 1}` : 'Value'));
    const rows = [...indexes]
      .sort((a, b) => a - b)
      .map((index) => [group[0]?.categories.get(index) ?? '', ...group.map(({ values }) => values.get(index) ?? '')]);
    return rows.length === 0 ? [] : [[axis, ...names], ...rows];
  });
}

function sameTexts(a: ReadonlyMap<number, string>, b: ReadonlyMap<number, string>): boolean {
  return a.size === b.size && [...a].every(([index, text]) => b.get(index) === text);
}
