/** Opens and starts the features of a host. */
import type { AIModulePorts } from '../business/ai/infrastructure/factories/createAIModule';
import type { FeatureHost, RunningHost, StartedFeature } from './Feature';
import { FEATURES } from './features';

type Features = (typeof FEATURES)[number];
type OpenedOf<F extends Features> = Awaited<ReturnType<F['open']>>;
type StartedOf<F extends Features> = Awaited<ReturnType<F['start']>>;

export interface OpenedFeatures {
  /** What the AI module takes of all features. */
  readonly ports: Partial<AIModulePorts>;
  readonly byName: ReadonlyMap<string, OpenedOf<Features>>;
}

/** By the name of the feature. */
export type StartedFeatures = { readonly [F in Features as F['name']]: StartedOf<F> };

/** @throws errors of the database */
export async function openFeatures(host: FeatureHost): Promise<OpenedFeatures> {
  const byName = new Map<string, OpenedOf<Features>>();
  await Promise.all(FEATURES.map(async ({ name, open }) => byName.set(name, await open(host))));
  const ports = [...byName.values()].map((opened): Partial<AIModulePorts> =>
    'ports' in opened ? (opened.ports ?? {}) : {},
  );
  return { byName, ports: Object.assign({}, ...ports) as Partial<AIModulePorts> };
}

/**
 * Starts the features, then the runs that wait for a process.
 * @throws what a feature throws, after those that were started are closed
 */
export async function startFeatures(host: RunningHost, { byName }: OpenedFeatures): Promise<StartedFeatures> {
  const started: Record<string, StartedFeature> = {};
  try {
    for (const feature of FEATURES) {
      // Each feature is started with what it has opened.
      const start = feature.start as (host: RunningHost, opened: unknown) => StartedFeature | Promise<StartedFeature>;
      const running = await start(host, byName.get(feature.name));
      started[feature.name] = running;
      host.started.push(running);
    }
    await host.ai.recovery.start();
    await host.ai.queue.start();
  } catch (error) {
    // Programs that are MCP servers would keep this process alive.
    await Promise.allSettled(host.started.map(async (feature) => feature.close?.()));
    throw error;
  }
  return started as unknown as StartedFeatures;
}
