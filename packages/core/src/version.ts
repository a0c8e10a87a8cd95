/** Version of the product; equals every package.json of the repository (a test checks it). */
export const VERSION = '0.1.0';
