/** Changes by the publication `ai.changes`, which sends a document per topic. */
import type { ChangeSource } from '../queries/ChangeSource';
import { CHANGES } from './collections';
import type { MeteorSource } from './MeteorSource';
import { trackDocuments } from './trackDocuments';
import { trackSubscription } from './trackSubscription';

export function createMeteorChanges(source: MeteorSource): ChangeSource {
  const { Meteor, Tracker } = source;
  return {
    subscribe(topics, listener) {
      let isOpen = false;
      let hasFailed = false;
      let revisions = '';
      const computation = Tracker.nonreactive(() =>
        Tracker.autorun(() => {
          const statuses = topics.map((topic) => trackSubscription(source, 'ai.changes', { topic }));
          const documents = topics.map((_id) => trackDocuments(source, { collection: CHANGES, selector: { _id } }));
          const isConnected = Meteor.status().status === 'connected';
          const isReady = isConnected && statuses.every(({ isLoading, error }) => !isLoading && error === undefined);
          const current = documents.map(([document]) => document?.revision).join();
          const failed = statuses.some(({ error }) => error !== undefined);
          const before = { isOpen, hasFailed, revisions };
          ({ isOpen, hasFailed, revisions } = { isOpen: isReady, hasFailed: failed, revisions: current });
          Tracker.nonreactive(() => {
            if (isReady && !before.isOpen) listener.onOpen();
            else if (isReady && current !== before.revisions) listener.onChange();
            else if (failed && !before.hasFailed) listener.onDisconnected();
          });
        }),
      );
      return () => computation.stop();
    },
  };
}
