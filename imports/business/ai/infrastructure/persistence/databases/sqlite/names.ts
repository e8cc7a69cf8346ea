/** Names in SQL, which does not distinguish upper from lower case, for names that differ by case. */

/** The table of a collection: its name, with `$` before letters that were upper case. */
export function tableNameOf(collection: string): string {
  const name = lowered(collection);
  // SQLite keeps these names for itself.
  return name.startsWith('sqlite_') ? `$${name}` : name;
}

export function columnNameOf(prefix: string, path: string): string {
  return `${prefix}:${lowered(path)}`;
}

export function pathOfColumn(column: string): string {
  return column.slice(column.indexOf(':') + 1).replace(/\$(.)/gu, (_, letter: string) => letter.toUpperCase());
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A `$` occurs in no name. */
function lowered(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `$${letter.toLowerCase()}`);
}
