/**
 * The documents of a collection in numbered slots, with columns: the values at a path, by slot. A query over many
 * documents reads a few columns, which takes a fraction of the time of a walk through the documents.
 */
import type { StoredDocument } from '../../../../domain/interfaces/DocumentCollection';
import { DOCUMENT_PATHS } from '../query/compileSelector';
import type { PathReader } from '../query/compileSelector';
import type { FieldReader } from '../query/DocumentAggregator';
import { isRecord, valueAtPath } from '../query/fieldPaths';

/** By slot. Undefined for a missing field and for an empty slot. */
export type ColumnValues = readonly unknown[];

/** Stands for the values that a path leads to through an array. */
const INSIDE_ARRAY = Symbol('inside an array');

interface Column {
  readonly parts: readonly string[];
  readonly values: unknown[];
  /** One copy of each string, which is found faster than many. Undefined for a column of too many. */
  strings: Map<string, string> | undefined;
}

/** A column of more strings than these probably has a different one in each document. */
const MAX_STRINGS = 2_000;

export function isArrayValue(value: unknown): boolean {
  return Array.isArray(value) || value === INSIDE_ARRAY;
}

/** A query that reads so many documents creates the columns that it reads. */
const MANY = 1_000;

export class DocumentColumns {
  private readonly documents: (StoredDocument | undefined)[] = [];
  private readonly slots = new Map<string, number>();
  private readonly emptySlots: number[] = [];
  private readonly columns = new Map<string, Column>();

  /** The number of documents. */
  get size(): number {
    return this.slots.size;
  }

  /** One more than the last slot that was ever used. */
  get capacity(): number {
    return this.documents.length;
  }

  slotOf(id: string): number | undefined {
    return this.slots.get(id);
  }

  /** Undefined for an empty slot. */
  document(slot: number): StoredDocument | undefined {
    return this.documents[slot];
  }

  /** In the order in which the documents were added. */
  usedSlots(): number[] {
    return [...this.slots.values()];
  }

  /** The same array as long as this object exists. */
  values(path: string): ColumnValues {
    const existing = this.columns.get(path);
    if (existing !== undefined) return existing.values;
    const parts = path.split('.');
    const column: Column = { parts, values: [], strings: new Map() };
    for (const document of this.documents)
      column.values.push(document === undefined ? undefined : shared(column, read(document, parts)));
    this.columns.set(path, column);
    return column.values;
  }

  add(document: StoredDocument): number {
    const slot = this.emptySlots.pop() ?? this.documents.length;
    this.slots.set(document._id, slot);
    this.put(slot, document);
    return slot;
  }

  put(slot: number, document: StoredDocument): void {
    this.documents[slot] = document;
    for (const column of this.columns.values()) column.values[slot] = shared(column, read(document, column.parts));
  }

  remove(slot: number): void {
    const document = this.documents[slot];
    if (document === undefined) return;
    this.slots.delete(document._id);
    this.emptySlots.push(slot);
    this.documents[slot] = undefined;
    for (const { values } of this.columns.values()) values[slot] = undefined;
  }

  /** The columns whose values differ between the document of the slot and another one. */
  changedPaths(slot: number, document: StoredDocument): ReadonlySet<string> {
    const changed = new Set<string>();
    for (const [path, { parts, values }] of this.columns)
      if (!isSame(values[slot], read(document, parts))) changed.add(path);
    return changed;
  }

  /**
   * Reads fields of documents by slot.
   * @param count how many documents will be read; for many, columns are created
   */
  fieldReader(path: string, count: number): FieldReader {
    const { documents } = this;
    const values = this.valuesFor(path, count);
    const parts = path.split('.');
    if (values === undefined)
      return (slots, into) => {
        for (let at = 0; at < slots.length; at += 1) into[at] = valueAtPath(documents[slots[at] ?? 0], parts);
      };
    return (slots, into) => {
      for (let at = 0; at < slots.length; at += 1) {
        const value = values[slots[at] ?? 0];
        into[at] = value === INSIDE_ARRAY ? undefined : value;
      }
    };
  }

  /** The same for tests. */
  pathReader(count: number): PathReader<number> {
    const { documents } = this;
    return {
      has: (path, test) => {
        const onDocument = DOCUMENT_PATHS.has(path, test);
        const values = this.valuesFor(path, count);
        if (values === undefined) return (slot) => onDocument(documents[slot]);
        return (slot) => {
          const value = values[slot];
          if (Array.isArray(value)) return value.some(test);
          return value === INSIDE_ARRAY ? onDocument(documents[slot]) : test(value);
        };
      },
      exists: (path) => {
        const onDocument = DOCUMENT_PATHS.exists(path);
        const values = this.valuesFor(path, count);
        if (values === undefined) return (slot) => onDocument(documents[slot]);
        return (slot) => {
          const value = values[slot];
          return value === INSIDE_ARRAY ? onDocument(documents[slot]) : value !== undefined;
        };
      },
    };
  }

  private valuesFor(path: string, count: number): ColumnValues | undefined {
    return count >= MANY || this.columns.has(path) ? this.values(path) : undefined;
  }
}

function read(document: StoredDocument, parts: readonly string[]): unknown {
  const value = valueAtPath(document, parts);
  return value === undefined && parts.length > 1 && leadsThroughArray(document, parts) ? INSIDE_ARRAY : value;
}

function shared(column: Column, value: unknown): unknown {
  if (typeof value !== 'string' || column.strings === undefined) return value;
  const first = column.strings.get(value);
  if (first !== undefined) return first;
  column.strings.set(value, value);
  if (column.strings.size > MAX_STRINGS) column.strings = undefined;
  return value;
}

function leadsThroughArray(document: StoredDocument, parts: readonly string[]): boolean {
  let value: unknown = document;
  for (const part of parts) {
    if (!isRecord(value)) return Array.isArray(value);
    value = Object.hasOwn(value, part) ? value[part] : undefined;
  }
  return false;
}

function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (left instanceof Date) return right instanceof Date && left.getTime() === right.getTime();
  if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
  return left.every((value, at) => isSame(value, right[at]));
}
