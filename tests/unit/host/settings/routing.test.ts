import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { settingsFromEnvironment, settingsFromMeteor } from '../../../../imports/host/settings/vendors';

const faultOf = (routing: unknown): string => {
  try {
    settingsFromMeteor({ routing }, { GROQ_API_KEY: 'key-of-groq' });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error('nothing was thrown');
};

describe('settings of routing', () => {
  it('are absent without settings', () => {
    expect(settingsFromEnvironment({})).to.not.have.property('routing');
    expect(settingsFromMeteor({ routing: {} }, {})).to.not.have.property('routing');
  });

  it('are read from the environment, in their short and long forms', () => {
    const LLM_ROUTING = JSON.stringify({
      'gpt-4.1': 'groq/llama-3.3-70b-versatile',
      safe: ['openai', 'anthropic/claude-sonnet-5-5'],
      tuned: {
        targets: [{ model: 'one/a/b', weight: 2 }, 'two'],
        strategy: 'weighted',
        timeout: 30_000,
        firstTokenTimeout: 5_000,
        maxRetries: 0,
        defaults: { temperature: 0, reasoning: { effort: 'low' } },
        enabled: false,
        description: 'Cheap.',
      },
    });
    expect(settingsFromEnvironment({ LLM_ROUTING }).routing).to.deep.equal([
      { name: 'gpt-4.1', targets: [{ model: 'groq/llama-3.3-70b-versatile' }], strategy: 'fallback', enabled: true },
      {
        name: 'safe',
        targets: [{ model: 'openai' }, { model: 'anthropic/claude-sonnet-5-5' }],
        strategy: 'fallback',
        enabled: true,
      },
      {
        name: 'tuned',
        description: 'Cheap.',
        targets: [{ model: 'one/a/b', weight: 2 }, { model: 'two' }],
        strategy: 'weighted',
        timeout: 30_000,
        firstTokenTimeout: 5_000,
        maxRetries: 0,
        defaults: { temperature: 0, reasoning: { effort: 'low' } },
        enabled: false,
      },
    ]);
  });

  it('are read from a file, and from Meteor’s settings, which take precedence per rule', () => {
    const directory = mkdtempSync(join(tmpdir(), 'bolide-routing-'));
    try {
      const file = join(directory, 'routing.json');
      writeFileSync(file, JSON.stringify({ fast: 'groq', safe: 'openai' }));
      const { routing = [] } = settingsFromMeteor({ routing: { fast: 'google' } }, { LLM_ROUTING: file });
      expect(routing.map(({ name, targets }) => [name, targets[0]?.model])).to.deep.equal([
        ['fast', 'google'],
        ['safe', 'openai'],
      ]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  const WRONG: readonly (readonly [routing: unknown, message: string])[] = [
    [[], 'Meteor.settings.ai.routing must be an object of routing rules by name'],
    [{ 'a/b': 'groq' }, 'rule "a/b": "name" must be 1 to 128 letters'],
    [{ groq: 'openai' }, 'rule "groq": "name" is the id of a provider'],
    [{ fast: {} }, 'rule "fast": "targets" is required'],
    [{ fast: [] }, 'rule "fast": "targets" must be a list with at least one target'],
    [
      { fast: ['a', { model: 'b', share: 1 }] },
      'rule "fast": Unknown field "targets[1].share". Expected one of: model, weight',
    ],
    [{ fast: ['a', ' b'] }, 'rule "fast": "targets[1]" must be "provider/model"'],
    [{ fast: ['a', 'b', 'a'] }, 'rule "fast": "targets[2].model" is the same as that of an earlier target'],
    [
      { fast: { targets: [{ model: 'a', weight: 0 }] } },
      'rule "fast": "targets" must have a target with a weight above 0',
    ],
    [{ fast: { targets: [{ model: 'a', weight: -1 }] } }, 'rule "fast": "targets[0].weight" must be a number from 0'],
    [{ fast: { targets: ['a'], strategy: 'random' } }, '"strategy" must be one of: fallback, weighted, latency'],
    [{ fast: { targets: ['a'], timeout: 0 } }, '"timeout" must be an integer from 1 to 3600000'],
    [{ fast: { targets: ['a'], maxRetries: 1.5 } }, '"maxRetries" must be an integer from 0 to 10'],
    [{ fast: { targets: ['a'], defaults: { temperature: 3 } } }, '"defaults.temperature" must be a number from 0 to 2'],
    [{ fast: { targets: ['a'], defaults: { reasoning: 'low' } } }, '"defaults.reasoning" must be an object'],
    [{ fast: { targets: ['a'], enabled: 'yes' } }, '"enabled" must be true or false'],
    [{ fast: { targets: ['a'], name: 'x' } }, 'Unknown field "name"'],
  ];
  for (const [routing, message] of WRONG)
    it(`are refused: ${JSON.stringify(routing)}`, () => {
      expect(faultOf(routing)).to.include(message);
    });

  it('names the variable that is wrong', () => {
    for (const [value, message] of [
      ['{', 'LLM_ROUTING is not valid JSON'],
      ['/no/such/file.json', 'LLM_ROUTING must be a JSON object or the path of a JSON file: ENOENT'],
      ['{"fast":7}', 'LLM_ROUTING: rule "fast": The argument must be an object'],
    ] as const)
      expect(() => settingsFromEnvironment({ LLM_ROUTING: value })).to.throw(message);
  });

  it('name every rule that is wrong', () => {
    const fault = faultOf({ one: {}, two: { targets: ['a'], timeout: -1 } });
    expect(fault).to.include('rule "one"').and.include('rule "two"');
  });
});
