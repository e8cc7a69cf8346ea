/** One `kill -9` of a process that owns a run, with each store: the next process ends the run. */
import { expect } from 'chai';
import { DocumentRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { checkMixedRun, uncertainCalls } from '../support/durable/checkMixedRun';
import { RunChild } from '../support/durable/runChildren';
import { RUN_PLACES } from '../support/durable/runPlaces';
import { RunWorld } from '../support/durable/RunWorld';

/** About the middle of a run, which prints 110. */
const LINES = 50;

for (const [name, openPlace] of Object.entries(RUN_PLACES)) {
  it(`A run whose process is killed ends in another one, with ${name}`, async () => {
    const world = new RunWorld();
    const children: RunChild[] = [];
    const url = await world.open();
    const place = await openPlace();
    const start = async (): Promise<RunChild> => {
      const child = await RunChild.start(url, place.name);
      children.push(child);
      await child.waitForLines(1, (line) => line.startsWith('ready'));
      return child;
    };
    const load = async () => {
      const database = await place.open();
      const stored = await new DocumentRunStore(database).load('run');
      await database.close();
      if (stored === undefined) throw new Error('The run is missing.');
      return stored;
    };
    try {
      const first = await start();
      first.run('run');
      await first.waitForLines(LINES);
      await first.kill();
      const killed = await load();
      expect(killed.run.endedAt).to.equal(undefined);
      const second = await start();
      await second.waitForLines(1, (line) => /^e run:(?:completed|failed|cancelled)/.test(line));
      await second.kill();
      expect([...first.failures, ...second.failures]).to.deep.equal([]);
      checkMixedRun(
        await load(),
        world.effects.map(({ effect }) => effect),
        world.requestsOf('run'),
      );
      expect([...world.reviewed]).to.have.members(uncertainCalls(killed).map((id) => `run:${id}`));
    } finally {
      await Promise.all(children.map((child) => child.kill()));
      world.close();
      await place.close();
    }
  });
}
