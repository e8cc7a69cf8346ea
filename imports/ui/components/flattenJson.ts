/**
 * A JSON value as the rows of a tree. No function here is recursive: a model may nest brackets deeper than a call stack
 * is.
 */

export interface JsonRow {
  readonly value: unknown;
  /** Absent for the root. */
  readonly key?: string | number;
  readonly parent?: JsonRow;
  /** 0 for the root. */
  readonly depth: number;
  /** Absent for a value without entries. */
  readonly isExpanded?: boolean;
}

export interface JsonExpansion {
  /** Levels that are open unless they were closed. */
  readonly levels: number;
  /** Objects and lists that were opened or closed one by one. */
  readonly toggled: ReadonlySet<unknown>;
}

/** @returns the rows of what is expanded, in the order in which they are shown */
export function flattenJson(root: unknown, { levels, toggled }: JsonExpansion): readonly JsonRow[] {
  return walk(root, (value, depth) => depth < levels !== toggled.has(value));
}

/** @returns the rows whose key or value contains the text, and those that lead to them; and how many contain it */
export function searchJson(root: unknown, query: string): { readonly rows: readonly JsonRow[]; readonly hits: number } {
  const wanted = query.toLowerCase();
  const all = walk(root, () => true);
  const shown = new Set<JsonRow>();
  let hits = 0;
  for (const row of all) {
    if (!contains(row, wanted)) continue;
    hits += 1;
    for (let at: JsonRow | undefined = row; at !== undefined && !shown.has(at); at = at.parent) shown.add(at);
  }
  return { rows: all.filter((row) => shown.has(row)), hits };
}

/** `$.items[3]["odd key"]` */
export function pathOf(row: JsonRow): string {
  const keys: string[] = [];
  for (let at: JsonRow | undefined = row; at?.key !== undefined; at = at.parent) keys.push(step(at.key));
  return `$${keys.reverse().join('')}`;
}

/** The number of values in it, counted up to a limit. */
export function countValues(root: unknown, limit: number): number {
  const open = [root];
  let count = 0;
  for (let value = open.pop(); count < limit; value = open.pop()) {
    count += 1;
    if (isContainer(value)) for (const key of Object.keys(value).slice(0, limit)) open.push(value[key]);
    if (open.length === 0) return count;
  }
  return limit;
}

export function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function walk(root: unknown, isExpanded: (value: object, depth: number) => boolean): readonly JsonRow[] {
  const rows: JsonRow[] = [];
  const open: JsonRow[] = [{ value: root, depth: 0 }];
  for (let row = open.pop(); row !== undefined; row = open.pop()) {
    const { value, depth } = row;
    if (!isContainer(value)) {
      rows.push(row);
      continue;
    }
    const keys = Object.keys(value);
    const expanded = keys.length > 0 && isExpanded(value, depth);
    const parent: JsonRow = keys.length === 0 ? row : { ...row, isExpanded: expanded };
    rows.push(parent);
    if (!expanded) continue;
    const isList = Array.isArray(value);
    for (let index = keys.length - 1; index >= 0; index -= 1) {
      const key = keys[index] ?? '';
      open.push({ value: value[key], key: isList ? index : key, parent, depth: depth + 1 });
    }
  }
  return rows;
}

function contains({ key, value }: JsonRow, wanted: string): boolean {
  if (typeof key === 'string' && key.toLowerCase().includes(wanted)) return true;
  return !isContainer(value) && String(value).toLowerCase().includes(wanted);
}

function step(key: string | number): string {
  if (typeof key === 'number') return `[${key}]`;
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}
