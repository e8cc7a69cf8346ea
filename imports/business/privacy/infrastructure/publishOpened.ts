/**
 * Publishes documents whose content is sealed, or that have fields which are derived. Meteor publishes what a cursor
 * observes as the database has it, so these are opened and completed on the way.
 */
import type { MeteorSubscription } from '../../ai/domain/interfaces/MeteorServer';
import type { StoredDocument } from '../../../database/DocumentCollection';
import type { MeteorMongoCursor } from '../../../database/meteor/MeteorMongo';

type Fields = Readonly<Record<string, unknown>>;

export interface PublishedCursor {
  readonly collection: string;
  readonly cursor: MeteorMongoCursor<unknown>;
  /** Adds fields that follow from others of the document. Default: none. */
  readonly derive?: ((fields: Fields) => Fields) | undefined;
}

/** Undefined for a document that is unreadable because its key was deleted. */
export type OpenContent = (collection: string, document: StoredDocument) => Promise<StoredDocument | undefined>;

export interface PublishOpenedPorts {
  /** Default: no content is sealed. */
  readonly open?: OpenContent | undefined;
  /** Ends the subscription: content could not be opened. */
  readonly onError: (error: unknown) => void;
}

/** Sends `ready` once the documents that exist have been sent. */
export async function publishOpened(
  subscription: MeteorSubscription,
  published: readonly PublishedCursor[],
  { open = asItIs, onError }: PublishOpenedPorts,
): Promise<void> {
  const handles: { stop(): void }[] = [];
  const stopped = new AbortController();
  subscription.onStop(() => {
    stopped.abort();
    for (const handle of handles) handle.stop();
  });
  for (const { collection, cursor, derive = asStored } of published) {
    // One after another, since a document's first key may have to be read.
    let last: Promise<void> = Promise.resolve();
    const inOrder = (work: () => Promise<void> | void): Promise<void> =>
      (last = last.then(() => (stopped.signal.aborted ? undefined : work())).catch(onError));
    const unreadable = new Set<string>();
    const handle = await cursor.observeChangesAsync({
      added: (id, fields) =>
        inOrder(async () => {
          const opened = await openFields(id, fields);
          if (opened === undefined) unreadable.add(id);
          else subscription.added(collection, id, opened);
        }),
      changed: (id, fields) =>
        inOrder(async () => {
          const opened = unreadable.has(id) ? undefined : await openFields(id, fields);
          if (opened !== undefined) subscription.changed(collection, id, opened);
        }),
      removed: (id) =>
        inOrder(() => {
          if (!unreadable.delete(id)) subscription.removed(collection, id);
        }),
    });
    handles.push(handle);
    // The observer was created after the subscription had ended.
    if (stopped.signal.aborted) handle.stop();
    await last;

    async function openFields(id: string, fields: Fields): Promise<Record<string, unknown> | undefined> {
      const opened = await open(collection, { ...fields, _id: id });
      if (opened === undefined) return undefined;
      const { _id, ...others } = opened;
      return derive(others);
    }
  }
  if (!stopped.signal.aborted) subscription.ready();
}

function asItIs(_collection: string, document: StoredDocument): Promise<StoredDocument> {
  return Promise.resolve(document);
}

function asStored(fields: Fields): Fields {
  return fields;
}
