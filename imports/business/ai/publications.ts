/**
 * Publishes runs, their calls, live text and statistics: to users their own, to admins everyone's; and to users what is
 * remembered about them. Only published fields are sent, and every query has a limit. Anonymous clients get nothing;
 * Meteor reruns the publication when they log in.
 */
import { argumentCheck } from './domain/util/argumentCheck';
import { boolean, readObject, oneOf, optional, identifier } from './domain/util/arguments';
import { canAccess, ownOnly } from './application/operations/runAccess';
import { readRunFilter, VIEW_LIMITS, visibleRuns } from './application/operations/RunQueries';
import { TOOL_CALL_TRANSITIONS } from './domain/entities/Tool';
import type { ToolCallState } from './domain/entities/Tool';
import type { MeteorCheck, MeteorServer, MeteorSubscription } from './domain/interfaces/MeteorServer';
import type { Actor } from './domain/types/Actor';
import type { MeteorMongoCollection } from '../../database/meteor/MeteorMongo';
import { LAST_SAVED_FIRST, MEMORIES, memoriesOf, MEMORY_FIELDS } from '../memory/infrastructure/DocumentMemoryRecords';
import {
  RUN_DETAIL_FIELDS,
  RUN_FIELDS,
  runSelector,
  TOOL_CALL_FIELDS,
  TOOL_CALL_SUMMARY_FIELDS,
} from './infrastructure/persistence/runs/DocumentRunViews';
import { DELTA_FIELDS, DELTAS_COLLECTION } from './infrastructure/persistence/runs/LiveTextStore';
import { COUNT_FIELDS, STATS_COLLECTION } from './infrastructure/persistence/runs/RunStatistics';
import { RUNS, TOOL_CALLS } from './infrastructure/persistence/runs/runDocuments';
import { publishOpened } from '../privacy/infrastructure/publishOpened';
import type { OpenContent, PublishedCursor } from '../privacy/infrastructure/publishOpened';
import { toMeteorError } from './methods';

export interface AIPublicationPorts {
  readonly Meteor: MeteorServer;
  readonly argumentChecks?: MeteorCheck | undefined;
  readonly database: { published(name: string): MeteorMongoCollection };
  /** Loads a user's rights; undefined for a user who no longer exists. */
  readonly actorOf: (userId: string) => Promise<Actor | undefined>;
  /** The id of the user who owns the run. */
  readonly ownerOf: (executionId: string) => Promise<string | undefined>;
  /** Milliseconds after which memories expire. Default: never. */
  readonly memoryMaxAgeMs?: number | undefined;
  /** Opens sealed content. Absent: none is. */
  readonly openContent?: OpenContent | undefined;
}

type Cursors = readonly PublishedCursor[];
type Find = (actor: Actor, argument: unknown) => Cursors | Promise<Cursors>;

const CALL_STATES = Object.keys(TOOL_CALL_TRANSITIONS) as ToolCallState[];
const ID_LENGTH = 128;

export function definePublications(ports: AIPublicationPorts): readonly string[] {
  const { Meteor, argumentChecks, database, actorOf, ownerOf, memoryMaxAgeMs = Infinity, openContent } = ports;
  const checkArgument = argumentCheck(argumentChecks, (Match) =>
    Match.Maybe(Match.OneOf(String, Match.ObjectIncluding({}))),
  );
  const find = (collection: string, selector: object, options: object): PublishedCursor => ({
    collection,
    cursor: database.published(collection).find(selector, options),
  });

  const publications: Readonly<Record<string, Find>> = {
    'ai.runs': (actor, argument) => [
      find(RUNS, runSelector(visibleRuns(actor, readRunFilter(argument))), {
        fields: RUN_FIELDS,
        sort: { createdAt: -1 },
        limit: VIEW_LIMITS.runs,
      }),
    ],
    'ai.run': async (actor, argument) => {
      const named = typeof argument === 'string' ? { executionId: argument } : argument;
      const executionId = identifier(ID_LENGTH)(readObject(named, ['executionId']).executionId, 'executionId');
      // Another user's run is indistinguishable from an unknown one.
      if (!canAccess(actor, await ownerOf(executionId))) return [];
      // A run's owner never changes. Selectors without the user let everyone who watches the run share its observers.
      return [
        { ...find(RUNS, { _id: executionId }, { fields: RUN_DETAIL_FIELDS }), derive: withOutputState },
        find(
          TOOL_CALLS,
          { executionId },
          { fields: TOOL_CALL_FIELDS, sort: { createdAt: 1 }, limit: VIEW_LIMITS.toolCalls },
        ),
        find(DELTAS_COLLECTION, { executionId }, { fields: DELTA_FIELDS, sort: { seq: 1 }, limit: VIEW_LIMITS.deltas }),
      ];
    },
    'ai.toolCalls': (actor, argument) => {
      const fields = readObject(argument, ['executionId', 'state', 'summary']);
      const { summary = false } = optional(fields, 'summary', boolean);
      const filter = {
        ...optional(fields, 'executionId', identifier(ID_LENGTH)),
        ...optional(fields, 'state', oneOf(CALL_STATES)),
      };
      return [
        find(
          TOOL_CALLS,
          { ...filter, ...ownOnly(actor) },
          {
            fields: summary ? TOOL_CALL_SUMMARY_FIELDS : TOOL_CALL_FIELDS,
            sort: { createdAt: -1 },
            limit: VIEW_LIMITS.toolCalls,
          },
        ),
      ];
    },
    'ai.stats': (actor, argument) => {
      readObject(argument, []);
      return [
        find(
          STATS_COLLECTION,
          { count: { $gt: 0 }, ...ownOnly(actor) },
          { fields: COUNT_FIELDS, sort: { day: -1 }, limit: VIEW_LIMITS.counts },
        ),
      ];
    },
    // Memories are their user's alone, also for admins.
    'ai.memory': ({ userId }, argument) => {
      readObject(argument, []);
      return [
        find(MEMORIES, memoriesOf(userId, Date.now() - memoryMaxAgeMs), {
          fields: MEMORY_FIELDS,
          sort: LAST_SAVED_FIRST,
          limit: VIEW_LIMITS.memories,
        }),
      ];
    },
  };

  for (const [name, publication] of Object.entries(publications)) {
    Meteor.publish(name, async function (this: MeteorSubscription, argument?: unknown) {
      checkArgument(argument);
      this.unblock();
      const actor = this.userId === null ? undefined : await actorOf(this.userId);
      if (actor === undefined) return [];
      try {
        const cursors = await publication(actor, argument ?? {});
        if (openContent === undefined && cursors.every(({ derive }) => derive === undefined))
          return cursors.map(({ cursor }) => cursor);
        // Boundary: whatever is thrown here is an Error.
        const onError = (error: unknown): void => this.error(toMeteorError(Meteor, error) as Error);
        await publishOpened(this, cursors, { open: openContent, onError });
        return undefined;
      } catch (error) {
        throw toMeteorError(Meteor, error);
      }
    } as never);
  }
  return Object.keys(publications);
}

/** Lists publish the state, too, and Meteor merges what several subscriptions publish of a document. */
function withOutputState(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return 'state' in fields ? { ...fields, outputState: fields['state'] } : fields;
}
