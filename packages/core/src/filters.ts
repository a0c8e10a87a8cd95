/** A comparison or a combination of comparisons over the metadata of chunks; made from a request's JSON by the metadata package. */
export type Filter =
  | { op: 'and' | 'or'; of: Filter[] }
  | { op: 'not'; of: Filter }
  | { op: 'eq'; field: string; value: Scalar }
  | { op: 'in'; field: string; values: Scalar[] }
  | { op: 'gt' | 'gte' | 'lt' | 'lte'; field: string; value: Scalar }
  | { op: 'exists'; field: string; value: boolean }
  /** Constant: true matches everything, false nothing. */
  | { op: 'const'; value: boolean };

/** Dates are ISO instants in UTC with milliseconds; integers and numbers are numbers. */
export type Scalar = string | number | boolean;
