/**
 * Publishes `ai.changes`: one document per topic, whose number changes whenever something of the topic has changed for
 * the user, in this process or another. Pages reload their queries then; the document holds no data.
 */
import { ownOnly } from '../../business/ai/application/operations/runAccess';
import { argumentCheck } from '../../business/ai/domain/util/argumentCheck';
import { oneOf, readObject, required } from '../../business/ai/domain/util/arguments';
import type { MeteorCheck, MeteorServer, MeteorSubscription } from '../../business/ai/domain/interfaces/MeteorServer';
import type { Actor } from '../../business/ai/domain/types/Actor';
import { TOPICS } from '../../business/ai/domain/types/Topics';
import type { Topic } from '../../business/ai/domain/types/Topics';
import type { TopicChanges } from '../../business/ai/infrastructure/events/TopicChanges';
import type { MeteorMongoCollection } from '../../database/meteor/MeteorMongo';
import { AUDIT } from '../../business/audit/infrastructure/DocumentAuditStore';
import { REQUESTS } from '../../business/requestLog/infrastructure/DocumentRequestStore';
import { RUNS, TOOL_CALLS } from '../../business/ai/infrastructure/persistence/runs/runDocuments';
import { toMeteorError } from '../../business/ai/methods';

/** The client's collection. */
export const CHANGES_COLLECTION = 'ai_topics';

export interface ChangesPublicationPorts {
  readonly Meteor: MeteorServer;
  readonly argumentChecks?: MeteorCheck | undefined;
  readonly database: { published(name: string): MeteorMongoCollection };
  readonly actorOf: (userId: string) => Promise<Actor | undefined>;
  /** The changes of this process. */
  readonly changes: TopicChanges;
}

/** What is observed for the changes of other processes. Queries are of the kind that Meteor follows in the oplog. */
interface ObservedQuery {
  readonly collection: string;
  /** The user is added for those who are not admins, so each query needs an index that starts with `userId`, too. */
  readonly selector: object;
  readonly sort: Readonly<Record<string, -1>>;
  readonly fields: Readonly<Record<string, 1>>;
  readonly limit: number;
}

const NEWEST_FIRST = { createdAt: -1 } as const;
const ACTIVE = { sort: NEWEST_FIRST, limit: 200 } as const;

/** To have a topic notified of other processes' writes, add what to observe. Admins share observers. */
const OBSERVED: Readonly<Partial<Record<Topic, readonly ObservedQuery[]>>> = {
  runs: [
    { collection: RUNS, selector: {}, sort: NEWEST_FIRST, limit: 1, fields: { state: 1 } },
    { collection: RUNS, selector: { state: 'running' }, fields: { state: 1, iterations: 1 }, ...ACTIVE },
    { collection: RUNS, selector: { state: 'waiting' }, fields: { state: 1 }, ...ACTIVE },
  ],
  requests: [{ collection: REQUESTS, selector: {}, sort: { at: -1, _id: -1 }, limit: 1, fields: { state: 1 } }],
  audit: [{ collection: AUDIT, selector: {}, sort: { at: -1, _id: -1 }, limit: 1, fields: { outcome: 1 } }],
  calls: (['executing', 'awaiting_approval', 'needs_review'] as const).map((state) => ({
    collection: TOOL_CALLS,
    selector: { state },
    fields: { state: 1 },
    ...ACTIVE,
  })),
};

/** Milliseconds in which changes are collected. */
const COLLECTING_MS = 200;

/** @returns the publication's name */
export function publishChanges({
  Meteor,
  argumentChecks,
  database,
  actorOf,
  changes,
}: ChangesPublicationPorts): string {
  const checkArgument = argumentCheck(argumentChecks, (Match) => Match.ObjectIncluding({}));
  Meteor.publish('ai.changes', async function (this: MeteorSubscription, argument?: unknown) {
    checkArgument(argument);
    this.unblock();
    const actor = this.userId === null ? undefined : await actorOf(this.userId);
    if (actor === undefined) return [];
    try {
      const topic = required(readObject(argument, ['topic']), 'topic', oneOf(TOPICS));
      await publishTopic(this, actor, topic);
    } catch (error) {
      throw toMeteorError(Meteor, error);
    }
    // The document is sent here, not by a cursor.
    return undefined;
  } as never);

  async function publishTopic(subscription: MeteorSubscription, actor: Actor, topic: Topic): Promise<void> {
    const stopped = new AbortController();
    let revision = 0;
    let isReady = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const touch = (): void => {
      if (!isReady || stopped.signal.aborted) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        revision += 1;
        subscription.changed(CHANGES_COLLECTION, topic, { revision });
      }, COLLECTING_MS);
    };
    const stops = [changes.subscribe(actor, (topics) => (topics.includes(topic) ? touch() : undefined))];
    subscription.onStop(() => {
      stopped.abort();
      clearTimeout(timer);
      for (const stop of stops.splice(0)) stop();
    });
    const handles = await Promise.all(
      (OBSERVED[topic] ?? []).map(({ collection, selector, ...options }) =>
        database
          .published(collection)
          .find({ ...ownOnly(actor), ...selector }, options)
          .observeChangesAsync({ added: touch, changed: touch, removed: touch }),
      ),
    );
    stops.push(...handles.map((handle) => () => handle.stop()));
    if (stopped.signal.aborted) {
      for (const stop of stops.splice(0)) stop();
      return;
    }
    isReady = true;
    subscription.added(CHANGES_COLLECTION, topic, { revision });
    subscription.ready();
  }
  return 'ai.changes';
}
