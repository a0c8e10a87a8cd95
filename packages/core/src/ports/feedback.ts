/** What somebody said of a result of a search. */
export interface StoredFeedback {
  query: string;
  doc_id: string;
  /** Absent: of the document as a whole. */
  chunk_id?: string;
  /** Revision of the document that was served then. */
  revision: string;
  helpful: boolean;
  /** Id of the key that said so; `local` without one. */
  by: string;
  /** ISO instant. */
  given_at: string;
}

/** Where feedback is kept: in the store, so that it outlives Redis. */
export interface FeedbackStore {
  insert(feedback: StoredFeedback): Promise<void>;
  /**
   * A page, in an order that does not change.
   * @param after cursor of the page before
   */
  list(options: { limit: number; after?: string }): Promise<{ feedback: StoredFeedback[]; next?: string }>;
}
