/** Removes every collection of a namespace from a Weaviate; the names of those that were there. */
export async function dropCollections(url: string, namespace: string): Promise<string[]> {
  const { classes } = (await (await fetch(`${url}/v1/schema`)).json()) as { classes: { class: string }[] }; // Weaviate's answer
  // A class begins with a capital, whatever its namespace does.
  const ours = classes.map((one) => one.class).filter((name) => name.toLowerCase().startsWith(namespace.toLowerCase()));
  for (const name of ours) await fetch(`${url}/v1/schema/${name}`, { method: 'DELETE' });
  return ours;
}
