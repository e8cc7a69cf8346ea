/** A kind of documents that are a user's: a deletion removes them, and an export contains them. */
import type { Selector } from '../../../database/DocumentCollection';

export interface UserDocumentKind {
  /** In the counts of a deletion, and in the lines of an export. Several entries may share one. */
  readonly kind: string;
  readonly collection: string;
  readonly owner: Ownership;
  /** The documents stay, because they are others': a deletion removes this field, which names the user. */
  readonly author?: string;
  /** Counts towards a limit, so that users cannot reset it. */
  readonly isLimit?: true;
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

/** @param where which documents are others' */
export function authored(
  collection: string,
  author: string,
  where: (userId: string) => Selector = () => ({}),
): UserDocumentKind & { readonly kind: 'authored'; readonly author: string } {
  return {
    kind: 'authored',
    collection,
    owner: { selector: (userId) => ({ ...where(userId), [author]: userId }) },
    author,
    fields: { _id: 1 },
    isSmall: true,
  };
}
