/**
 * The passages of a context as the API renders it: each begins with a line `[n] heading`, in the order of its sources.
 *
 * @param sources of the same answer
 */
export function passagesOf(
  context: string,
  sources: readonly { n: number; doc_id: string }[],
): { doc_id: string; text: string }[] {
  let from = 0;
  const starts = sources.map(({ n }) => {
    const mark = `[${n}] `;
    const at = context.startsWith(mark, from) ? from : context.indexOf(`\n${mark}`, from) + 1;
    from = at + mark.length;
    return at;
  });
  return sources.map(({ doc_id }, index) => {
    const passage = context.slice(starts[index], starts[index + 1]);
    return { doc_id, text: passage.slice(passage.indexOf('\n') + 1).trim() };
  });
}
