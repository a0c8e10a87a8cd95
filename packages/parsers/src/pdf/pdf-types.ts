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
  getTextContent(options: { includeMarkedContent: boolean; disableNormalization: boolean }): Promise<PdfTextContent>;
  cleanup(): boolean;
}

export interface PdfTextContent {
  items: PdfTextItem[];
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
