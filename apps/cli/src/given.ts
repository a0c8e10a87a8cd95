type Given<T> = { [Key in keyof T]: Exclude<T[Key], undefined> };

/** The members that have a value: options that were not given are left out of what is sent. */
export function given<T extends Record<string, unknown>>(members: T): Partial<Given<T>> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<Given<T>>;
}
