/**
 * Reads everything that is stored about a user, opened if it is sealed, in pages of about a megabyte. It lists ids and
 * reads large documents one at a time, so that it never has more in memory than a page and a document.
 */
import { LLMInvalidRequestError } from '../../ai/domain/errors/LLMErrors';
import type { DocumentCollection, Selector, StoredDocument } from '../../../database/DocumentCollection';
import { parseCursor } from '../../../database/query/findPage';
import { ownTurn } from '../../ai/domain/util/ownTurn';
import type { UserDataPage } from '../domain/UserDataPage';
import type { DocumentDatabase } from '../../../database/DocumentDatabase';
import { toExportLine } from './toExportLine';
import type { PartOwnership, UserDocumentKind } from '../../../database/StoredCollection';

export interface UserDataReaderOptions {
  /** A page ends with the line that reaches it. Default: 1,000,000. */
  readonly pageCharacters?: number;
}

/** What was read: of the kinds before this one, all; of this one, up to the id. */
interface Position {
  /** The index of the kind. */
  readonly kind: number;
  /** The id of the last document. */
  readonly id: string;
  /** Only for kinds that are parts of other documents: the last of those documents in the previous batch. */
  readonly whole?: string;
  /** The last of those documents in the current batch. */
  readonly lastWhole?: string;
}

interface FoundIds {
  readonly ids: readonly string[];
  /** Where they were found; the id of one of them is where the rest follows. */
  readonly from: Position;
  /** Where the next ids follow. */
  readonly next: Position;
}

/** Ids per query, and documents whose parts are read together. */
const ID_BATCH = 1_000;
const WHOLE_BATCH = 100;
/** Small documents per query. */
const SMALL_BATCH = 100;
/** Milliseconds after which others have their turn. */
const SLICE_MS = 10;

export class UserDataReader {
  private readonly database: Pick<DocumentDatabase, 'collection'>;
  private readonly kinds: readonly UserDocumentKind[];
  private readonly pageCharacters: number;

  constructor(
    database: Pick<DocumentDatabase, 'collection'>,
    kinds: readonly UserDocumentKind[],
    { pageCharacters = 1_000_000 }: UserDataReaderOptions = {},
  ) {
    this.database = database;
    this.kinds = kinds;
    this.pageCharacters = pageCharacters;
  }

  /**
   * @param after the `next` of the page before
   * @throws LLMInvalidRequestError with the path `after` for anything else; errors of the database
   */
  async page(userId: string, after?: string): Promise<UserDataPage> {
    const lines: string[] = [];
    let characters = 0;
    let until = performance.now() + SLICE_MS;
    let position = after === undefined ? START : decode(after);
    for (;;) {
      const kind = this.kinds[position.kind];
      if (kind === undefined) return { lines };
      const { ids, from, next } = await this.idsAfter(position, kind, userId);
      const step = kind.isSmall === true ? SMALL_BATCH : 1;
      for (let at = 0; at < ids.length; at += step) {
        const batch = ids.slice(at, at + step);
        for (const document of await this.read(kind, batch)) {
          const line = toExportLine(kind, document);
          lines.push(line);
          characters += line.length;
        }
        const id = batch.at(-1) ?? from.id;
        if (characters >= this.pageCharacters) return { lines, next: encode({ ...from, id }) };
        if (performance.now() < until) continue;
        await ownTurn();
        until = performance.now() + SLICE_MS;
      }
      position = next;
    }
  }

  private async idsAfter(
    position: Position,
    { owner, collection }: UserDocumentKind,
    userId: string,
  ): Promise<FoundIds> {
    const nextKind = { kind: position.kind + 1, id: '' };
    if ('part' in owner) return this.partsAfter(position, owner, collection, userId);
    const selector = 'selector' in owner ? owner.selector(userId) : {};
    const found = await this.ids(collection, selector, position.id, ID_BATCH);
    const last = found.at(-1);
    const isLast = found.length < ID_BATCH || last === undefined;
    return {
      from: position,
      ids: 'matches' in owner ? found.filter((id) => owner.matches(id, userId)) : found,
      next: isLast ? nextKind : { ...position, id: last },
    };
  }

  /** The parts of some documents at a time. */
  private async partsAfter(
    position: Position,
    { part, of, where = {} }: PartOwnership,
    collection: string,
    userId: string,
  ): Promise<FoundIds> {
    const { whole = '', lastWhole } = position;
    const upTo = lastWhole === undefined ? {} : { _id: { $lte: lastWhole } };
    const wholes = await this.ids(of.collection, { ...of.selector(userId), ...upTo }, whole, WHOLE_BATCH);
    const to = lastWhole ?? wholes.at(-1);
    if (to === undefined) return { ids: [], from: position, next: { kind: position.kind + 1, id: '' } };
    const from = { ...position, whole, lastWhole: to };
    const next = { kind: position.kind, id: '', whole: to };
    if (wholes.length === 0) return { ids: [], from, next };
    const ids = await this.ids(collection, { ...where, [part]: { $in: wholes } }, position.id, ID_BATCH);
    const last = ids.at(-1);
    return { ids, from, next: ids.length < ID_BATCH || last === undefined ? next : { ...from, id: last } };
  }

  private async ids(name: string, selector: Selector, after: string, limit: number): Promise<readonly string[]> {
    const following: Selector = { $and: [selector, { _id: { $gt: after } }] };
    const found = await this.collection(name).find(following, { sort: { _id: 1 }, limit, fields: { _id: 1 } });
    return found.map(({ _id }) => _id);
  }

  /** Leaves out documents that were removed meanwhile. */
  private read({ collection, fields }: UserDocumentKind, ids: readonly string[]): Promise<readonly StoredDocument[]> {
    const projection = fields === undefined ? {} : { fields };
    return this.collection(collection).find({ _id: { $in: ids } }, { sort: { _id: 1 }, ...projection });
  }

  private collection(name: string): DocumentCollection<StoredDocument> {
    return this.database.collection(name);
  }
}

const START: Position = { kind: 0, id: '' };
const MAX_CURSOR_LENGTH = 4_000;

function encode({ kind, id, whole, lastWhole }: Position): string {
  const parts = whole === undefined ? [] : [whole, lastWhole];
  return Buffer.from(JSON.stringify([kind, id, ...parts])).toString('base64url');
}

/** @throws LLMInvalidRequestError */
function decode(cursor: string): Position {
  const [kind, id, whole, lastWhole] = cursor.length > MAX_CURSOR_LENGTH ? [] : parseCursor(cursor);
  if (typeof kind !== 'number' || !Number.isSafeInteger(kind) || kind < 0 || typeof id !== 'string')
    throw invalidCursor();
  if (whole === undefined && lastWhole === undefined) return { kind, id };
  if (typeof whole !== 'string' || typeof lastWhole !== 'string') throw invalidCursor();
  return { kind, id, whole, lastWhole };
}

function invalidCursor(): LLMInvalidRequestError {
  return new LLMInvalidRequestError('"after" is not the "next" of a page.', { path: 'after' });
}
