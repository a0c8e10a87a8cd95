/** What a check of `sluice doctor` found. */
export interface Check {
  /** What was looked at, as `node`, `redis`, `source inbox`. */
  name: string;
  /** `problem`: something does not work. `warning`: it works, but not for long or not for all. */
  status: 'ok' | 'warning' | 'problem';
  detail: string;
  /** The command, or the setting, that fixes it. */
  fix?: string;
}

export function ok(name: string, detail: string): Check {
  return { name, status: 'ok', detail };
}

export function warning(name: string, detail: string, fix: string): Check {
  return { name, status: 'warning', detail, fix };
}

export function problem(name: string, detail: string, fix: string): Check {
  return { name, status: 'problem', detail, fix };
}
