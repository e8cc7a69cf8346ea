/**
 * Seals and opens the content of one collection's documents. A sealed value is bound to its collection, document and
 * field, so that it opens nowhere else; everything around it stays as it is. Content that was stored before sealing was
 * switched on is returned as it is found.
 */
import type { StoredDocument } from '../../../database/DocumentCollection';
import { StoreError } from '../../../database/databaseErrors';
import { isRecord } from '../../../database/query/fieldPaths';
import type { ContentKey, ContentKeys } from './ContentKeys';
import type { ContentRule } from '../../../database/StoredCollection';

/** In place of content: the id of the key, and the sealed text. No content has this shape. */
interface SealedBox {
  readonly sealed: readonly [keyId: string, text: string];
}

export interface DocumentSealPorts {
  readonly keys: Pick<ContentKeys, 'find'>;
  /** Told of a document whose key was deleted. */
  readonly onUnreadable: (collection: string, keyId: string) => void;
}

type MapContent = (content: unknown, path: string) => unknown;

export class DocumentSeal {
  private readonly collection: string;
  private readonly paths: readonly (readonly string[])[];
  private readonly ports: DocumentSealPorts;

  constructor(collection: string, { content }: Pick<ContentRule, 'content'>, ports: DocumentSealPorts) {
    this.collection = collection;
    this.paths = content.map((path) => path.split('.'));
    this.ports = ports;
  }

  sealDocument<T extends StoredDocument>(document: T, key: ContentKey): T {
    // Only content changes.
    return this.mapDocument(document, this.sealerFor(document._id, key)) as T;
  }

  /** Seals what a `$set` writes to the document. */
  sealFields(
    id: string,
    fields: Readonly<Record<string, unknown>>,
    key: ContentKey,
  ): Readonly<Record<string, unknown>> {
    const seal = this.sealerFor(id, key);
    return Object.fromEntries(
      Object.entries(fields).map(([path, value]) => [
        path,
        this.contentBelow(path).reduce((sealed, rest) => mapContent(sealed, rest, seal, path), value),
      ]),
    );
  }

  /** Whether a write to the field, or a condition on it, concerns content. */
  touches(path: string): boolean {
    return this.contentBelow(path).length > 0;
  }

  /**
   * Content whose key was deleted is deleted, and so are the documents that it is in.
   * @throws StoreError if content was altered, or its key does not open
   */
  async open<T extends StoredDocument>(documents: readonly T[]): Promise<readonly T[]> {
    const keys = await this.keysOf(documents);
    if (keys.size === 0) return documents;
    return documents.flatMap((document) => {
      const missing = new Set<string>();
      const opened = this.mapDocument(document, (content, path) => {
        if (!isBox(content)) return content;
        const [keyId, text] = content.sealed;
        const key = keys.get(keyId);
        if (key !== undefined) return parse(key.open(text, [this.collection, document._id, path]));
        missing.add(keyId);
        return content;
      });
      for (const keyId of missing) this.ports.onUnreadable(this.collection, keyId);
      return missing.size > 0 ? [] : [opened as T];
    });
  }

  private async keysOf(documents: readonly StoredDocument[]): Promise<ReadonlyMap<string, ContentKey | undefined>> {
    const keys = new Map<string, ContentKey | undefined>();
    for (const document of documents)
      this.mapDocument(document, (content) => {
        if (isBox(content)) keys.set(content.sealed[0], undefined);
        return content;
      });
    for (const id of keys.keys()) keys.set(id, await this.ports.keys.find(id));
    return keys;
  }

  private mapDocument(document: StoredDocument, map: MapContent): unknown {
    return this.paths.reduce<unknown>((mapped, path) => mapContent(mapped, path, map), document);
  }

  /** The rest of each path of content that begins with the given one. @throws StoreError for a part of content */
  private contentBelow(path: string): readonly (readonly string[])[] {
    const names = path.split('.');
    return this.paths.flatMap((content) => {
      const isRelated = names.every((name, at) => at >= content.length || content[at] === '*' || content[at] === name);
      if (!isRelated) return [];
      if (names.length > content.length)
        throw new StoreError(`"${path}" of ${this.collection} is a part of sealed content, so it cannot be addressed.`);
      return [content.slice(names.length)];
    });
  }

  private sealerFor(id: string, key: ContentKey): MapContent {
    return (content, path): SealedBox => ({
      sealed: [key.id, key.seal(serialize(content), [this.collection, id, path])],
    });
  }
}

/** Replaces what a path leads to. Absent content stays absent. */
function mapContent(value: unknown, path: readonly string[], map: MapContent, at = ''): unknown {
  const [name, ...rest] = path;
  if (value === undefined) return value;
  if (name === undefined) return map(value, at);
  if (!isRecord(value)) return value;
  let mapped = value;
  for (const field of name === '*' ? Object.keys(value) : [name]) {
    const next = mapContent(value[field], rest, map, at === '' ? field : `${at}.${field}`);
    if (next !== value[field]) mapped = { ...mapped, [field]: next };
  }
  return mapped;
}

/** Most content is text, which is not escaped once more. */
function serialize(content: unknown): string {
  return typeof content === 'string' ? TEXT + content : JSON_VALUE + JSON.stringify(content);
}

function parse(text: string): unknown {
  return text.startsWith(TEXT) ? text.slice(TEXT.length) : JSON.parse(text.slice(JSON_VALUE.length));
}

const TEXT = 't';
const JSON_VALUE = 'j';

function isBox(value: unknown): value is SealedBox {
  if (!isRecord(value) || !Array.isArray(value['sealed'])) return false;
  const { sealed, ...others } = value as { readonly sealed: readonly unknown[] };
  return Object.keys(others).length === 0 && sealed.length === 2 && sealed.every((part) => typeof part === 'string');
}
