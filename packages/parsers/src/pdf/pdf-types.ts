/** The parts of pdf.js' document that are used here (pdf-parse does not export its types). */
export interface PdfDocument {
  readonly numPages: number;
  getPage(number: number): Promise<PdfPage>;
  getOutline(): Promise<PdfOutlineNode[] | null>;
  getMetadata(): Promise<{ info: Record<string, unknown> }>;
  getFieldObjects(): Promise<Record<string, { value?: unknown; type?: string; page?: number }[]> | null>;
  cleanup(keepLoadedFonts?: boolean): Promise<unknown>;
}

export interface PdfOutlineNode {
  title: string;
  items: PdfOutlineNode[];
}

export interface PdfPage {
  getViewport(options: { scale: number }): { width: number; height: number; transform: number[] };
  getStructTree(): Promise<PdfStructNode | null>;
  getAnnotations(options: { intent: 'display' }): Promise<PdfAnnotation[]>;
  getTextContent(options: { includeMarkedContent: boolean; disableNormalization: boolean }): Promise<PdfTextContent>;
  cleanup(): boolean;
}

export interface PdfTextContent {
  items: (PdfTextItem | PdfMark)[];
  styles: Record<string, { fontFamily: string; vertical?: boolean }>;
  lang: string | null;
}

export interface PdfTextItem {
  str: string;
  /** `ltr`, `rtl`, `ttb`. */
  dir: string;
  /** Text space to page space: [a, b, c, d, x, y]. */
  transform: number[];
  width: number;
  height: number;
  fontName: string;
  hasEOL: boolean;
}

/** Where marked content begins and ends, among the items. */
export interface PdfMark {
  type: string;
  /** That the structure tree names it by. */
  id?: string;
}

/** A node of the structure tree has a role and children, a leaf the id of marked content. */
export interface PdfStructNode {
  role?: string;
  children?: PdfStructNode[];
  type?: string;
  id?: string;
}

interface PdfAnnotation {
  subtype: string;
  contentsObj?: { str?: string };
}
