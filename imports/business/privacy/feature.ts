/** The keys of sealed content, and the export and deletion of a user's data. */
import { userDocumentsOf } from '../../database/StoredCollection';
import { defineFeature, nothingToOpen } from '../../host/Feature';
import { endUserRuns } from '../ai/application/services/endUserRuns';
import { USER_OPERATIONS } from './application/userOperations';
import { PRIVACY_COLLECTIONS } from './collections';
import { UserDataRemoval } from './infrastructure/UserDataRemoval';
import { UserDataDeletion } from './UserDataDeletion';
import { UserDataExport } from './UserDataExport';

export const privacy = defineFeature({
  name: 'privacy',
  collections: PRIVACY_COLLECTIONS,
  operations: USER_OPERATIONS,
  open: nothingToOpen,
  start({ database, collections, contentKeys, ai, started, cancelRequests, storage, findNames }) {
    const flush = async (): Promise<void> => {
      for (const feature of started) await feature.flush?.();
    };
    const kinds = userDocumentsOf(collections);
    const deletion = new UserDataDeletion({
      features: started,
      documents: new UserDataRemoval(database, ai.jobs, kinds),
      database,
      async endActivity(userId) {
        await cancelRequests(userId);
        await endUserRuns({ loop: ai.loop, store: ai.runs }, userId);
        await flush();
      },
    });
    const dataExport = new UserDataExport({ database, kinds, flush });
    return {
      services: {
        userData: { deleteUserData: deletion.deleteUserData, exportUserData: dataExport.exportUserData },
        storage,
        userNames: findNames,
      },
      ...{ deletion, dataExport },
      ...(contentKeys === undefined
        ? {}
        : {
            reseal: () => contentKeys.reseal(),
            removeUser: async (userId: string) => ({ contentKeys: await contentKeys.removeOfUser(userId) }),
          }),
    };
  },
});
