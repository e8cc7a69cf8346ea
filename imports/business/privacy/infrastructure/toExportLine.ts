/** One document as a line of JSON. */
import type { StoredDocument } from '../../../database/DocumentCollection';
import { isRecord } from '../../../database/query/fieldPaths';
import type { UserDocumentKind } from '../../../database/StoredCollection';

/**
 * JSON that a store has written is inserted as it is, so that megabytes are neither parsed nor escaped.
 * @returns `{ kind, collection, data }` without a line break
 */
export function toExportLine(
  { kind, collection, fields, hidden = [], json = [] }: UserDocumentKind,
  document: StoredDocument,
): string {
  const shown = Object.entries(document).filter(
    ([name]) => !hidden.includes(name) && (name !== '_id' || fields === undefined || '_id' in fields),
  );
  const paths = json.map((path) => path.split('.'));
  const data = toJson(Object.fromEntries(shown), paths);
  return `{"kind":${JSON.stringify(kind)},"collection":${JSON.stringify(collection)},"data":${data}}`;
}

/** @param paths from the value to texts that are JSON */
function toJson(value: unknown, paths: readonly (readonly string[])[]): string {
  if (typeof value === 'string' && paths.some((path) => path.length === 0)) return value;
  if (paths.length > 0 && Array.isArray(value))
    return `[${value.map((each) => toJson(each, below(paths, '*'))).join()}]`;
  if (paths.length === 0 || !isRecord(value)) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${toJson(field, below(paths, name))}`).join()}}`;
}

function below(paths: readonly (readonly string[])[], name: string): readonly (readonly string[])[] {
  return paths.filter(([first]) => first === name || first === '*').map(([, ...rest]) => rest);
}
