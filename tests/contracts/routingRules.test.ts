/** Routing rules that admins save at run time, on every store, and what they change in two processes. */
import { expect } from 'chai';
import { RoutingAdministration } from '../../imports/business/ai/application/operations/RoutingAdministration';
import { ROUTING_OPERATIONS } from '../../imports/business/ai/application/operations/routingOperations';
import { bindOperations } from '../../imports/host/bindOperations';
import type { OperationsOf } from '../../imports/host/bindOperations';
import { RULES_MAX_AGE_MS } from '../../imports/business/ai/application/services/routing/RoutingRules';
import type { RoutingRule } from '../../imports/business/ai/domain/entities/RoutingRule';
import {
  LLMAuthError,
  LLMInvalidRequestError,
  LLMPermissionError,
} from '../../imports/business/ai/domain/errors/LLMErrors';
import type { Actor } from '../../imports/business/ai/domain/types/Actor';
import { createAIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import type { AIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import {
  DocumentRoutingRules,
  ROUTING_RULES,
} from '../../imports/business/ai/infrastructure/persistence/routing/DocumentRoutingRules';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { QUICK_DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { failure } from '../support/failure';
import { simulatedRow } from '../support/gateway';
import { RecordingLogger } from '../support/RecordingLogger';

const ADMIN: Actor = { userId: 'root', isAdmin: true, source: 'http' };
const ANN: Actor = { userId: 'ann', source: 'http' };

interface Process {
  readonly module: AIModule;
  readonly operations: OperationsOf<typeof ROUTING_OPERATIONS>;
}

for (const [name, open] of Object.entries(QUICK_DATABASES)) {
  describe(`routing rules saved at run time, stored in ${name}`, () => {
    let opened: TestDatabase;
    let simulator: Simulator;
    let logger: RecordingLogger;
    let here: Process;
    let there: Process;
    let now: number;
    const configured: RoutingRule = {
      name: 'set',
      targets: [{ model: 'openai' }],
      strategy: 'fallback',
      enabled: true,
    };
    const create = (): Process => {
      const store = new DocumentRoutingRules(opened.database.collection(ROUTING_RULES));
      const module = createAIModule(
        {
          providers: [simulatedRow(simulator, 'openai'), { ...simulatedRow(simulator, 'groq'), allowedModels: ['m'] }],
          routing: [configured],
        },
        { routingRules: store, logger, now: () => now },
      );
      const { routing, providers, manager } = module;
      const health = (): ReturnType<typeof manager.health> => manager.health();
      const administration = new RoutingAdministration({ routing, store, providers, health, logger });
      return { module, operations: bindOperations(ROUTING_OPERATIONS, { routing: administration }) };
    };
    beforeEach(async () => {
      [opened, simulator] = await Promise.all([open(), startSimulator()]);
      logger = new RecordingLogger();
      now = Date.now();
      here = create();
      there = create();
    });
    afterEach(async () => {
      await Promise.all([here.module.close(), there.module.close()]);
      await simulator.close();
      await opened.close();
    });

    const served = async ({ module }: Process, model: string): Promise<string | undefined> => {
      try {
        return (await module.manager.generate('ann', { model, input: 'Hi' })).vendor.providerId;
      } catch {
        return undefined;
      }
    };

    it('apply at once here, and soon in another process', async () => {
      expect(await served(here, 'fast')).to.equal(undefined);
      expect(await served(there, 'fast')).to.equal(undefined);
      await here.operations['ai.routing.save'](ADMIN, { name: 'fast', targets: ['groq/m'] });
      expect(await served(here, 'fast')).to.equal('groq');
      await there.operations['ai.routing.save'](ADMIN, { name: 'slow', targets: ['openai'] });
      expect(await served(there, 'slow')).to.equal('openai');
      expect(await served(here, 'slow')).to.equal(undefined);
      now += RULES_MAX_AGE_MS;
      expect(await served(there, 'fast')).to.equal('groq');
      expect(await served(here, 'slow')).to.equal('openai');
      await there.operations['ai.routing.remove'](ADMIN, { name: 'fast' });
      expect(await served(there, 'fast')).to.equal(undefined);
      expect(await served(here, 'fast')).to.equal('groq');
      now += RULES_MAX_AGE_MS;
      expect(await served(here, 'fast')).to.equal(undefined);
      await here.operations['ai.routing.remove'](ADMIN, { name: 'slow' });
    });

    it('replace those of the settings until they are removed', async () => {
      const list = async (): Promise<readonly object[]> => (await here.operations['ai.routing.list'](ADMIN)).rules;
      expect(await list()).to.deep.equal([
        {
          ...configured,
          targets: [{ model: 'openai', circuit: 'closed', isPaused: false }],
          source: 'settings',
          isOverride: false,
        },
      ]);
      const saved = await here.operations['ai.routing.save'](ADMIN, { name: 'set', targets: ['groq/m'] });
      expect(saved).to.include({ source: 'dashboard', isOverride: true, changedBy: 'root' });
      expect(await list()).to.deep.equal([saved]);
      expect(await served(here, 'set')).to.equal('groq');
      expect(await here.operations['ai.routing.remove'](ADMIN, { name: 'set' })).to.deep.equal({ removed: true });
      expect(await served(here, 'set')).to.equal('openai');
      expect(await failure(here.operations['ai.routing.remove'](ADMIN, { name: 'set' }))).to.include({ path: 'name' });
      expect(await here.operations['ai.routing.remove'](ADMIN, { name: 'none' })).to.deep.equal({ removed: false });
    });

    it('keep every field, and mark targets that requests pass over', async () => {
      const rule = {
        name: 'all',
        description: 'Everything.',
        targets: [
          { model: 'nobody/m', weight: 0.5 },
          { model: 'groq/other' },
          { model: 'openai/default-model', weight: 2 },
        ],
        strategy: 'weighted',
        timeout: 5_000,
        firstTokenTimeout: 1_000,
        maxRetries: 0,
        defaults: { temperature: 0, instructions: 'Be brief.', reasoning: { effort: 'low' } },
        enabled: true,
      };
      await here.operations['ai.routing.save'](ADMIN, rule);
      const { rules } = await there.operations['ai.routing.list'](ADMIN);
      const [{ targets, changedAt, ...others }] = rules as unknown as [Record<string, unknown>];
      const { targets: _, ...fields } = rule;
      expect(others).to.deep.include({ ...fields, source: 'dashboard' });
      expect(changedAt).to.be.a('number');
      expect(targets).to.deep.equal([
        { model: 'nobody/m', weight: 0.5, problem: 'There is no provider "nobody".', isPaused: false },
        {
          model: 'groq/other',
          problem: 'The provider "groq" is restricted to other models.',
          circuit: 'closed',
          isPaused: false,
        },
        { model: 'openai/default-model', weight: 2, circuit: 'closed', isPaused: false },
      ]);
      expect(await served(there, 'all')).to.equal('openai');
      const after = await there.operations['ai.routing.list'](ADMIN);
      expect(after.rules[0]?.targets[2]?.complete).to.be.above(0);
    });

    it('are for admins', async () => {
      for (const operation of ['ai.routing.list', 'ai.routing.save', 'ai.routing.remove'] as const) {
        expect(await failure(here.operations[operation](ANN, { name: 'x' }))).to.be.instanceOf(LLMPermissionError);
        expect(await failure(here.operations[operation]({ userId: '', source: 'http' }, {}))).to.be.instanceOf(
          LLMAuthError,
        );
      }
    });

    it('are stored without the fields that are undefined', async () => {
      const rule = { name: 'fast', targets: ['openai', { model: 'groq', weight: undefined }] };
      await here.operations['ai.routing.save'](ADMIN, { ...rule, timeout: undefined, defaults: { top_p: undefined } });
      const [saved] = (await there.operations['ai.routing.list'](ADMIN)).rules.filter(({ name }) => name === 'fast');
      expect(saved).to.not.have.any.keys('timeout', 'description');
      expect(saved?.defaults).to.deep.equal({});
      expect(saved?.targets[1]).to.not.have.any.keys('weight');
      await here.operations['ai.routing.remove'](ADMIN, { name: 'fast' });
    });

    for (const [argument, path] of [
      [{ targets: ['openai'] }, 'name'],
      [{ name: 'a/b', targets: ['openai'] }, 'name'],
      [{ name: 'openai', targets: ['openai'] }, 'name'],
      [{ name: 'x' }, 'targets'],
      [{ name: 'x', targets: [] }, 'targets'],
      [{ name: 'x', targets: undefined }, 'targets'],
      [{ name: 'x', targets: [{ model: 7 }] }, 'targets[0].model'],
      [{ name: 'x', targets: ['openai', { model: 'openai' }] }, 'targets[1].model'],
      [{ name: 'x', targets: [{ model: 'openai', weight: 0 }] }, 'targets'],
      [{ name: 'x', targets: ['openai'], timeout: 'soon' }, 'timeout'],
      [{ name: 'x', targets: ['openai'], defaults: { temperature: 'hot' } }, 'defaults.temperature'],
      [{ name: 'x', targets: ['openai'], speed: 1 }, 'speed'],
    ] as const)
      it(`are refused: ${JSON.stringify(argument)}`, async () => {
        const error = await failure(here.operations['ai.routing.save'](ADMIN, argument));
        expect(error).to.be.instanceOf(LLMInvalidRequestError).and.include({ path });
        expect((await here.operations['ai.routing.list'](ADMIN)).rules).to.have.length(1);
      });
  });
}
