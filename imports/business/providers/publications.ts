/**
 * `ai.providers` as a Meteor publication: each user's providers, sent anew when providers, keys or connections
 * change.
 */
import { check, Match } from 'meteor/check';
import { Meteor } from 'meteor/meteor';
import { PROVIDERS_COLLECTION, ProvidersPublication } from './application/operations/ProvidersPublication';
import type { PublicProvider } from './domain/entities/PublicProvider';
import type { Actor } from '../ai/domain/types/Actor';

export interface ProviderPublicationPorts {
  readonly list: (actor: Actor) => Promise<readonly PublicProvider[]>;
  readonly actorOf: (userId: string) => Promise<Actor | undefined>;
  /** @returns what ends the listening */
  readonly onChange: (listener: () => void) => () => void;
}

const NOTHING = Match.Maybe({});

export function defineProviderPublication({ list, actorOf, onChange }: ProviderPublicationPorts): readonly string[] {
  Meteor.publish('ai.providers', async function (argument?: unknown) {
    // There is nothing to choose; a client that says so by an empty object is understood.
    check(argument, NOTHING);
    this.unblock();
    const { userId } = this;
    if (userId === null) return [];
    const publication = new ProvidersPublication({
      list,
      findActor: () => actorOf(userId),
      sink: {
        added: (id, fields) => this.added(PROVIDERS_COLLECTION, id, { ...fields }),
        changed: (id, fields) => this.changed(PROVIDERS_COLLECTION, id, { ...fields }),
        removed: (id) => this.removed(PROVIDERS_COLLECTION, id),
        ready: () => this.ready(),
      },
    });
    const stop = onChange(
      () =>
        void publication
          .refresh()
          .catch((error: unknown) =>
            this.error(error instanceof Error ? error : new Error('providers can’t be listed')),
          ),
    );
    this.onStop(() => {
      stop();
      publication.stop();
    });
    await publication.start();
    // Its documents are sent as they come, not found by a cursor.
    return undefined;
  });
  return ['ai.providers'];
}
