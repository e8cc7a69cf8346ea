/** Skills, and the tools that read them, keep the prefix of requests that vendors have cached. */
import { expect } from 'chai';
import { agent } from '../../imports/library/Agent';
import { loadSkills } from '../../imports/library/skills/loadSkills';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { simulatedProvider, WIRES_OR_VENDORS } from '../support/simulatedProviders';

const SKILLS = Array.from({ length: 12 }, (_, index) => `task-${index}`);

/** Long enough for every vendor's cache. */
const files = {
  list: () => Promise.resolve(SKILLS.map((name) => `${name}/SKILL.md`)),
  read: (path: string) => {
    const [name = ''] = path.split('/');
    const text = `Everything that has to be known about ${name}. `;
    return Promise.resolve(`---\nname: ${name}\ndescription: ${text.repeat(12)}\n---\n${text.repeat(40)}`);
  },
};

describe('Skills', () => {
  for (const vendor of WIRES_OR_VENDORS)
    it(`leave the requests of a run to begin with all of the request before, on ${vendor.name}`, async () => {
      const simulator = await startSimulator({ cachesPrompts: true });
      try {
        simulator.enqueue(
          ...['task-3', 'task-7', 'task-1'].map((skill) => ({ calls: [{ name: 'read_skill', arguments: { skill } }] })),
          { text: 'Done.' },
        );
        const skills = await loadSkills(files);
        const provider = simulatedProvider(simulator, vendor);
        const run = agent({ provider, instructions: 'Be brief.', skills }).stream('Do tasks 3, 7 and 1.');
        const usages: { readonly input: number; readonly cached: number }[] = [];
        for await (const event of run)
          if (event.type === 'llm:response')
            usages.push({
              input: event.response.usage.input_tokens,
              cached: event.response.usage.input_tokens_details.cached_tokens,
            });
        const sent = simulator.requests.map(({ body }) => prompt(body as object));
        for (const [index, text] of sent.slice(1).entries())
          expect(text.startsWith((sent[index] ?? '').slice(0, -2)), `request ${index + 2}`).to.equal(true);
        for (const [index, { cached }] of usages.slice(1).entries())
          // Vendors cache in steps.
          expect(cached).to.be.at.least(0.9 * (usages[index]?.input ?? 0));
      } finally {
        await simulator.close();
      }
    });
});

/** What a request says, in the order in which vendors read it: definitions, instructions, and the history last. */
function prompt(body: object): string {
  const { messages, input, contents, ...fields } = body as Record<string, unknown>;
  // Marks of what is to be cached move on with the history, and are no part of it.
  return JSON.stringify({ ...fields, history: messages ?? input ?? contents }, (key, value: unknown) =>
    key === 'cache_control' ? undefined : value,
  );
}
