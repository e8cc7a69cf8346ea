/** Names in SQL, which does not distinguish upper from lower case, for names that differ by case. */

/** The table of a collection: its name, with `$` before letters that were upper case. */
export function tableNameOf(collection: string): string {
  const name = lowered(collection);
  // SQLite keeps these names for itself.
  return name.startsWith('sqlite_') ? `$${name}` : name;
}

/** The collection of a table; undefined for another table. */
export function collectionOfTable(table: string): string | undefined {
  const name = table.startsWith('$sqlite_') ? table.slice(1) : table;
  return name.includes('.') || table.startsWith('sqlite_') ? undefined : raised(name);
}

export function columnNameOf(prefix: string, path: string): string {
  return `${prefix}:${lowered(path)}`;
}

export function pathOfColumn(column: string): string {
  return raised(column.slice(column.indexOf(':') + 1));
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function unquoted(name: string): string {
  return name.slice(1, -1).replaceAll('""', '"');
}

/** A `$` occurs in no name. */
function lowered(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `$${letter.toLowerCase()}`);
}

function raised(name: string): string {
  return name.replace(/\$(.)/gu, (_, letter: string) => letter.toUpperCase());
}
