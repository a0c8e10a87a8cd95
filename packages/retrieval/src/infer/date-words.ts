import type { Unit } from './calendar.js';

/** Words of dates in English, German, French and Spanish, without accents and in lower case. */
export const MONTHS = [
  'january|januar|jan|janvier|enero',
  'february|februar|feb|fevrier|febrero',
  'march|maerz|marz|mars|marzo',
  'april|apr|avril|abril',
  'may|mai|mayo',
  'june|juni|jun|juin|junio',
  'july|juli|jul|juillet|julio',
  'august|aug|aout|agosto',
  'september|sept|sep|septembre|septiembre',
  'october|oktober|oct|okt|octobre|octubre',
  'november|nov|novembre|noviembre',
  'december|dezember|dec|dez|decembre|diciembre',
];

export const UNITS: Record<Unit, string> = {
  day: 'days?|tage?n?|jours?|dias?',
  week: 'weeks?|wochen?|semaines?|semanas?',
  month: 'months?|monate?n?|monats|mois|mes|meses',
  quarter: 'quarters?|quartale?n?|quartals|trimestres?',
  year: 'years?|jahre?n?|jahres|ans?|annees?|anos?',
};

export const LAST =
  'last|past|previous|letzte[nmrs]?|vorige[nmrs]?|vergangene[nmrs]?|derniere?s?|passee?s?|pasad[oa]s?|ultim[oa]s?';
export const THIS = 'this|current|diese[nmrs]?|laufende[nmrs]?|aktuelle[nmrs]?|cette?|ce|este|esta';
export const DAYS: Record<string, number> = {
  today: 0,
  heute: 0,
  "aujourd'hui": 0,
  hoy: 0,
  yesterday: 1,
  gestern: 1,
  hier: 1,
  ayer: 1,
};

/** What stands before a date and says which side of it is meant. */
export const SIDES = {
  since: 'since|starting|seit|ab|depuis|desde',
  after: 'after|nach|apres|despues de',
  before: 'before|vor|avant|antes de',
  until: "until|till|up to|through|bis|jusqu'(?:a|en|au)|hasta",
};
/** What stands before a date that is meant itself: a year or a month alone may be something else. */
export const WITHIN = "in|from|of|during|for|im|aus|von|wahrend|en|de|du|pendant|durante|del|jahr|year|annee|ano|l'annee";
