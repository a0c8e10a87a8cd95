import { stemEnglish } from './stem.js';

/**
 * Words that carry grammar, not a topic (light verbs such as `keep` and `make` too), in English, German, French and Spanish. In a small collection such a word is rare enough for
 * BM25 to take it for a rare topic: "how does the pump keep its oil" would find "keep its place" first.
 */
const FUNCTION_TERMS = new Set(
  `a about after all also am an and any are as at be because been before being between both but by can could did do does doing during each
  for from had has have having he her here hers him his how i if in into is it its just me more most my no nor not of off on once only or
  other our out over own please same she should so some such than that the their them then there these they this those through to too under
  until up us very keep keeps kept get gets got make makes made let lets take takes took give gives gave go goes went come comes came put puts
  was we were what when where which while who whom whose why will with would you your
  aber als am an auch auf aus bei bin bis bist da das dass dem den der des die dies diese doch du durch ein eine einem einen einer eines er es
  für hat ich ihr im in ist ja kann man mit nach nicht noch nur oder sich sie sind so über um und uns vom von vor war was wem wen wenn wer wie
  wir wird wo zu zum zur
  au aux avec ce ces cette comment dans de des du elle en est et il ils je la le les leur leurs lui ma mais mes mon ne nos notre nous on ont ou
  où par pas pour pourquoi quand que quel quelle qui quoi sa se ses son sont sur ta te tes ton tu un une vos votre vous
  al como con cual cuando cuál cuándo cómo de del donde dónde el ella ellos en es esa ese esta este esto está la las lo los más me mi mis muy no
  nos o para pero por porque que quien quién qué se sin sobre son su sus te tu tus un una unos y ya`
    .split(/\s+/)
    .map(stemEnglish),
);

/** The terms of a query without function words; all of them where nothing else is left ("to be or not to be"). */
export function topicTerms(terms: readonly string[]): string[] {
  const topic = terms.filter((term) => !FUNCTION_TERMS.has(term));
  return topic.length > 0 ? topic : [...terms];
}
