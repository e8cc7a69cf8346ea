/**
 * What is declared of a collection: how long its documents are kept, what of them is users' content, and how the
 * documents of a user are found. Sealing, retention, and the deletion and export of a user's data follow from it.
 */
import type { Selector } from './DocumentCollection';

export interface StoredCollection {
  readonly name: string;
  /** What keeps users from filling the disk with it. */
  readonly bound: CollectionBound;
  /** What of its documents is users' content; null for a collection without any. */
  readonly content: ContentRule | null;
  /** The maximum age that applies to its documents, and the field with the time that counts. Default: no limit. */
  readonly kept?: { readonly by: RetentionTime; readonly field: string };
  /** The field whose long texts may be stored with a run alone. Default: none. */
  readonly sharesTexts?: SharedTexts;
  /** Empty: it has nothing of a user that could be exported. */
  readonly ofUsers: readonly UserDocuments[];
}

/**
 * - `account`: it counts towards its user's storage, and requests that would add to it are refused beyond the bound;
 * - `evicted`: beyond a bound of bytes, the user's least recently used documents are removed;
 * - `entries`: users have a share of a number of entries of limited size;
 * - `brief`: its documents are removed within an hour, or with the run that they are part of;
 * - `small`: a user has few documents, of limited size;
 * - `operators`: only operators, and the server itself, add to it.
 */
export type CollectionBound = 'account' | 'evicted' | 'entries' | 'brief' | 'small' | 'operators';

/** The maximum ages that operators can set. */
export type RetentionTime = 'responses' | 'conversations' | 'messages' | 'chats';

/** Texts that the input of a run has, too. */
export interface SharedTexts {
  /** The field with the JSON whose texts may be references to those of the input. */
  readonly field: string;
  /** The field that names the run then. */
  readonly run: string;
}

/** What of a collection's documents is content, and whose. */
export interface ContentRule {
  /** Paths of content; `*` stands for every field of an object. Nothing selects, sorts or groups by them. */
  readonly content: readonly string[];
  /** The field with the owner's id, or the one that names a run, whose owner it is; `host` for what is no user's. */
  readonly owner: { readonly field: string } | { readonly run: string } | 'host';
}

/** Documents that are a user's: a deletion removes them, and an export contains them. */
export interface UserDocuments {
  /** In the counts of a deletion, and in the lines of an export. Several entries may share one. */
  readonly kind: string;
  readonly owner: Ownership;
  /** The documents stay, because they are others': a deletion removes this field, which names the user. */
  readonly author?: string;
  /** Counts towards a limit, so that users cannot reset it. */
  readonly isLimit?: true;
  /** A service removes them with what it has in memory of them. Default: the deletion removes them by itself. */
  readonly isRemovedByService?: true;
  /**
   * What of a document is exported. Default: all but `hidden`. State it where documents have secrets, or what
   * identifies other people: what is not listed is not even read.
   */
  readonly fields?: Readonly<Record<string, 1>>;
  /** What serves the database only. */
  readonly hidden?: readonly string[];
  /** Paths of texts that are JSON; `*` stands for each field or element. An export contains the JSON as it is. */
  readonly json?: readonly string[];
  /** A document has at most a few kilobytes, so that many can be read at a time. */
  readonly isSmall?: true;
}

/** A user's documents in one collection. */
export interface UserDocumentKind extends UserDocuments {
  readonly collection: string;
}

/** How the documents of a user are found. */
export type Ownership =
  | { readonly selector: (userId: string) => Selector }
  | PartOwnership
  /** By their ids alone, all of which are read. */
  | { readonly matches: (documentId: string, userId: string) => boolean };

/** Parts of other documents of the user, such as of runs. */
export interface PartOwnership {
  /** The field with the id of the document that it is a part of. */
  readonly part: string;
  readonly of: { readonly collection: string; readonly selector: (userId: string) => Selector };
  readonly where?: Selector;
}

export function ownedBy(field: string): { readonly selector: (userId: string) => Selector } {
  return { selector: (userId) => ({ [field]: userId }) };
}

/**
 * Others' documents that name the user as the author of a change.
 * @param where which documents are others'
 */
export function authoredBy(
  author: string,
  where: (userId: string) => Selector = () => ({}),
): UserDocuments & { readonly kind: 'authored' } {
  return {
    kind: 'authored',
    owner: { selector: (userId) => ({ ...where(userId), [author]: userId }) },
    author,
    fields: { _id: 1 },
    isSmall: true,
  };
}

export function userDocumentsOf(collections: readonly StoredCollection[]): readonly UserDocumentKind[] {
  return collections.flatMap(({ name, ofUsers }) => ofUsers.map((documents) => ({ collection: name, ...documents })));
}
