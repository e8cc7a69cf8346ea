/** Defines the Meteor publication `ai.providers`: a user's providers, updated when they or their keys change. */
import { check, Match } from 'meteor/check';
import { Meteor } from 'meteor/meteor';
import { PROVIDERS_COLLECTION, ProvidersPublication } from './application/operations/ProvidersPublication';
import type { PublicProvider } from './domain/entities/PublicProvider';
import type { Actor } from '../ai/domain/types/Actor';

export interface ProviderPublicationPorts {
  readonly list: (actor: Actor) => Promise<readonly PublicProvider[]>;
  readonly actorOf: (userId: string) => Promise<Actor | undefined>;
  /** @returns unsubscribes */
  readonly onChange: (listener: () => void) => () => void;
}

const NOTHING = Match.Maybe({});

export function defineProviderPublication({ list, actorOf, onChange }: ProviderPublicationPorts): readonly string[] {
  Meteor.publish('ai.providers', async function (argument?: unknown) {
    // There are no options, but an empty object is accepted.
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
            this.error(error instanceof Error ? error : new Error('The providers could not be listed.')),
          ),
    );
    this.onStop(() => {
      stop();
      publication.stop();
    });
    await publication.start();
    // The documents are sent by the publication itself, not by a cursor.
    return undefined;
  });
  return ['ai.providers'];
}
