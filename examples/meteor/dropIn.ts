/**
 * Adds only the AI module to an existing app: `imports/business/ai`, its npm packages, and this function on the
 * server.
 */
import { check, Match } from 'meteor/check';
import { Meteor } from 'meteor/meteor';
import { Mongo } from 'meteor/mongo';
import { createAIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import type { AIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import { createRunModule } from '../../imports/business/ai/infrastructure/factories/createRunOperations';
import { DocumentRunViews } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunViews';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { MeteorDatabase } from '../../imports/database/meteor/MeteorDatabase';
import type { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { defineAIMethods } from '../../imports/business/ai/methods';
import { definePublications } from '../../imports/business/ai/publications';
import type { Actor } from '../../imports/business/ai/domain/types/Actor';
import type { ProviderSettings } from '../../imports/business/ai/infrastructure/factories/LLMProviderFactory';

/** @param providers vendors, such as `{ id: 'openai', vendor: 'openai', apiKey, defaultModel }` */
export async function startAI(providers: readonly ProviderSettings[], tools: ToolRegistry): Promise<AIModule> {
  const database = new MeteorDatabase({ Mongo });
  const module = createAIModule(
    { providers },
    {
      tools,
      runs: await openRunStore(database),
      // Every logged-in user may use every provider. Without a policy, access is denied.
      access: {
        decide: ({ userId }) =>
          Promise.resolve(
            userId === '' ? { allowed: false, reason: 'Log in first.' } : { allowed: true, budget: { calls: 20 } },
          ),
      },
    },
  );
  const doors = createRunModule(module, {
    collection: (name) => database.collection(name),
    views: new DocumentRunViews(database),
  });
  await doors.ready();
  const actorOf = async (userId: string): Promise<Actor | undefined> => {
    const user = await Meteor.users.findOneAsync(userId, { fields: { _id: 1 } });
    return user === undefined ? undefined : { userId, source: 'method' };
  };
  const meteor = { Meteor, argumentChecks: { check, Match } };
  defineAIMethods({ ...meteor, methods: doors.methods, actorOf });
  definePublications({ ...meteor, database, actorOf, ownerOf: doors.ownerOf });
  await module.recovery.start();
  return module;
}
