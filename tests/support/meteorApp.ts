/**
 * The Meteor host on the stubs, over the vendor simulator, with users, tools and a provider that all users may use.
 */
import { Meteor } from 'meteor/meteor';
import { resetWebApp } from 'meteor/webapp';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { addDdpRateLimits } from '../../imports/host/meteor/ddpRateLimits';
import { startBolide } from '../../imports/host/meteor/startBolide';
import type { BolideOptions, MeteorHost } from '../../imports/host/meteor/startBolide';
import { DdpClient } from '../stubs/server/DdpClient';
import { registry, resetMeteor } from '../stubs/server/registry';
import { newKey } from './oauth/ProvidersHost';
import { recordEvents } from './recordEvents';
import type { EventRecord } from './recordEvents';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { METEOR_PACKAGES } from '../meteor/meteorPackages';

/** Ann is the admin; `nobody` is not logged in. */
export const PEOPLE = ['ann', 'bob', 'cat'] as const;
export type Person = (typeof PEOPLE)[number] | 'nobody';

export interface MeteorApp {
  readonly host: MeteorHost;
  readonly simulator: Simulator;
  readonly events: EventRecord;
  /** Opens a new connection on each call. */
  client(person: Person): DdpClient;
  call(person: Person, method: string, ...args: readonly unknown[]): Promise<unknown>;
  /** Enables the rate limits, which are off at first. */
  limitRates(): void;
  stop(): Promise<void>;
}

/**
 * @param ai overrides in `Meteor.settings.ai`
 * @param options overrides of the options of `startBolide`, and what the app does before: it defines its methods. The
 *   routes are at the root unless `httpPath` says otherwise
 */
export async function startMeteorApp(
  ai: Readonly<Record<string, unknown>> = {},
  { onReset, ...options }: Partial<BolideOptions> & { readonly onReset?: () => void | Promise<void> } = {},
): Promise<MeteorApp> {
  const simulator = await startSimulator();
  const settings = Meteor.settings;
  Meteor.settings = { public: {}, ai: { secrets: newKey('k1'), admins: ['ann'], allowPrivateHosts: true, ...ai } };
  resetMeteor();
  resetWebApp();
  await onReset?.();
  for (const _id of PEOPLE) await Meteor.users.insertAsync({ _id });
  const host = await startBolide({
    ...METEOR_PACKAGES,
    tools: testTools(),
    simulates: false,
    httpPath: '',
    ...options,
  });
  registry.rateRules.clear();
  await host.providers.service.create({
    providerId: 'shared',
    name: 'Shared',
    vendor: 'openai',
    baseURL: simulator.baseURL('openai'),
    auth: { kind: 'api_key' },
    apiKey: 'sk-of-all',
    access: 'everyone',
  });
  const clients: DdpClient[] = [];
  const client = (person: Person): DdpClient => {
    const created = new DdpClient({ userId: person === 'nobody' ? null : person });
    clients.push(created);
    return created;
  };
  return {
    host,
    simulator,
    events: recordEvents(host.module.loop),
    client,
    call: (person, method, ...args) => client(person).callAsync(method, ...args),
    limitRates() {
      addDdpRateLimits(METEOR_PACKAGES.DDPRateLimiter, {
        methods: [...registry.methods.keys()].filter((name) => name.startsWith('ai.')),
        publications: [...registry.publications.keys()],
      });
    },
    async stop() {
      for (const each of clients) each.close();
      await host.close();
      resetMeteor();
      resetWebApp();
      Meteor.settings = settings;
      await simulator.close();
    },
  };
}

function testTools(): ToolRegistry {
  const parameters = { type: 'object', properties: { text: { type: 'string' } }, additionalProperties: false };
  return new ToolRegistry()
    .register({ name: 'clock', description: 'The time.', parameters, execute: () => 'noon' })
    .register({ name: 'danger', description: 'Asks first.', parameters, needsApproval: true, execute: () => 'done' })
    .register({ name: 'outside', description: 'Completed externally.', parameters, kind: 'external' });
}
