import { expect } from 'chai';
import {
  adoptInput,
  normalizeOptions,
} from '../../../../../imports/business/ai/application/services/ContentNormalizer';
import { atOnce } from '../../../../../imports/business/ai/domain/util/slices';
import type { GenerateOptions } from '../../../../../imports/business/ai/domain/types/LLMTypes';
import type { JsonObject, VendorName, WireName } from '../../../../../imports/business/ai/domain/types/VendorTypes';
import { WIRES, wireContext } from '../../../../support/wireContexts';

const MARK = { type: 'ephemeral' };
const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'look', arguments: '{}' }) as const;
const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: `found ${id}` }) as const;
const TALK = [{ role: 'user', content: 'Look.' }, call('a'), output('a'), call('b'), output('b')] as const;
const REQUEST = {
  input: TALK,
  instructions: 'Be brief.',
  tools: [
    { type: 'function', name: 'first' },
    { type: 'function', name: 'look' },
  ],
} as const;

function bodyOf(vendor: VendorName, wire: WireName, model: string, options: Partial<GenerateOptions>) {
  const given = normalizeOptions({ model, ...REQUEST, ...options });
  const { body, losses } = atOnce(WIRES[wire].toRequest(given, wireContext(vendor, model), false));
  return { body: JSON.parse(JSON.stringify(body)) as JsonObject, losses };
}

const anthropic = (options: Partial<GenerateOptions>): JsonObject =>
  bodyOf('anthropic', 'anthropic_messages', 'claude-sonnet-4-5', options).body;

/** The paths of the marks, in the order of the request. */
function marksIn({ tools, system, messages }: JsonObject): readonly string[] {
  const found: string[] = [];
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('cache_control' in value) found.push(path);
    for (const [key, each] of Object.entries(value)) visit(each, `${path}.${key}`);
  };
  visit(tools, 'tools');
  visit(system, 'system');
  visit(messages, 'messages');
  return found;
}

describe('prompt caching', () => {
  it('marks the last tool, the instructions, the last message, and the last one of the request before', () => {
    const body = anthropic({ promptCache: 'auto' });
    expect(marksIn(body)).to.deep.equal(['tools.1', 'system.0', 'messages.2.content.0', 'messages.4.content.0']);
    expect(JSON.stringify(body)).to.contain('"cache_control":{"type":"ephemeral"}');
    // The request before.
    expect(marksIn(anthropic({ promptCache: 'auto', input: TALK.slice(0, 3) }))).to.include('messages.2.content.0');
  });

  it('marks the last message of the request before also if it was one of the system', () => {
    const note = { role: 'developer', content: 'Be quick.' } as const;
    const input = [...TALK.slice(0, 3), note, call('b'), output('b')];
    const { body } = bodyOf('anthropic', 'anthropic_messages', 'claude-opus-5-5', { promptCache: 'auto', input });
    const { body: before } = bodyOf('anthropic', 'anthropic_messages', 'claude-opus-5-5', {
      ...{ promptCache: 'auto', input: input.slice(0, 4) },
    });
    expect(marksIn(before).slice(-2)).to.deep.equal(['messages.0.content.0', 'messages.3.content.0']);
    expect(marksIn(body).slice(-2)).to.deep.equal(['messages.3.content.0', 'messages.5.content.0']);
  });

  it('adds nothing but the marks, and nothing unless it is asked to', () => {
    const plain = anthropic({});
    expect(marksIn(plain)).to.deep.equal([]);
    expect(anthropic({ promptCache: false })).to.deep.equal(plain);
    const marked = JSON.parse(
      JSON.stringify(anthropic({ promptCache: 'auto' }), (key, value: unknown) =>
        key === 'cache_control' ? undefined : value,
      ),
    ) as JsonObject;
    expect(marked).to.deep.equal({ ...plain, system: [{ type: 'text', text: 'Be brief.' }] });
  });

  it('leaves the caller’s own marks, and never makes more than four', () => {
    const own = { ...TALK[0], vendor: { anthropic: { cache_control: { ...MARK, ttl: '1h' } } } };
    const body = anthropic({ promptCache: 'auto', input: [own, ...TALK.slice(1)] });
    expect(marksIn(body)).to.deep.equal(['tools.1', 'system.0', 'messages.0.content.0']);
    const three = TALK.map((item, index) =>
      index % 2 === 0 && 'type' in item ? { ...item, vendor: { anthropic: { cache_control: MARK } } } : item,
    );
    const full = anthropic({ promptCache: 'auto', input: [own, ...three.slice(1)] });
    // The prefix gets only the marks that are left.
    expect(marksIn(full)).to.have.length(4).and.to.include('system.0');
    expect(marksIn(anthropic({ promptCache: 'auto', vendor: { anthropic: { cache_control: MARK } } }))).to.deep.equal(
      [],
    );
  });

  it('marks the caller’s breakpoints, for an hour if it likes', () => {
    const body = anthropic({ promptCache: { breakpoints: [2], ttl: '1h' } });
    expect(marksIn(body)).to.deep.equal(['tools.1', 'system.0', 'messages.2.content.0']);
    expect(JSON.stringify(body)).to.contain('"cache_control":{"type":"ephemeral","ttl":"1h"}');
  });

  it('sends OpenAI a key of at most 64 characters', () => {
    for (const wire of ['responses', 'chat_completions'] as const)
      for (const vendor of ['openai', 'azure_openai'] as const) {
        const keyOf = (key: string): unknown =>
          bodyOf(vendor, wire, 'gpt-5-mini', { promptCache: { key } }).body['prompt_cache_key'];
        expect(keyOf('run-1')).to.equal('run-1');
        expect(keyOf('x'.repeat(65))).to.have.length(64);
        expect(bodyOf(vendor, wire, 'gpt-5-mini', { promptCache: 'auto' }).body).not.to.have.property(
          'prompt_cache_key',
        );
      }
    const groq = bodyOf('groq', 'chat_completions', 'llama-3.3-70b-versatile', { promptCache: { key: 'run-1' } });
    expect(groq.body).not.to.have.property('prompt_cache_key');
  });

  it('carries the key and the end user of a request between OpenAI’s two APIs, where the host has them', () => {
    const fields = { safety_identifier: 'user-1', prompt_cache_key: 'talk-1' };
    const sent = (vendor: VendorName, wire: 'responses' | 'chat_completions'): unknown => {
      const from = wire === 'responses' ? 'openai' : 'openai_responses';
      const { body } = bodyOf(vendor, wire, 'gpt-5-mini', { vendor: { [from]: fields } });
      return [body['safety_identifier'], body['prompt_cache_key']];
    };
    for (const vendor of ['openai', 'azure_openai'] as const) {
      expect(sent(vendor, 'responses')).to.deep.equal(['user-1', 'talk-1']);
      expect(sent(vendor, 'chat_completions')).to.deep.equal(['user-1', 'talk-1']);
    }
    expect(sent('openai_compatible', 'responses')).to.deep.equal(['user-1', 'talk-1']);
    expect(sent('openai_compatible', 'chat_completions')).to.deep.equal([undefined, undefined]);
    expect(sent('groq', 'chat_completions')).to.deep.equal([undefined, undefined]);
  });

  it('marks breakpoints in the content of requests to OpenAI’s models from GPT-5.6 on, up to which alone they are cached', () => {
    const BREAKPOINT = { mode: 'explicit' };
    const parts = (text: string, type: string) => [{ type, text, prompt_cache_breakpoint: BREAKPOINT }];
    const promptCache = { breakpoints: [0, 2] };
    const { body, losses } = bodyOf('openai', 'responses', 'gpt-5.6-sol', { promptCache });
    const [question, , result, ...rest] = body['input'] as readonly JsonObject[];
    expect(question).to.deep.include({ role: 'user', content: parts('Look.', 'input_text') });
    expect(result).to.deep.include({ type: 'function_call_output', output: parts('found a', 'input_text') });
    expect(JSON.stringify(rest)).not.to.contain('prompt_cache_breakpoint');
    expect(body['prompt_cache_options']).to.deep.equal({ mode: 'explicit' });
    expect(losses).to.deep.equal([]);
    const chat = bodyOf('openai', 'chat_completions', 'gpt-6.1-sol', { promptCache });
    const [, message] = chat.body['messages'] as readonly JsonObject[];
    expect(message).to.deep.include({ role: 'user', content: parts('Look.', 'text') });
    expect(chat.body['prompt_cache_options']).to.deep.equal({ mode: 'explicit' });
    expect(chat.losses.map(({ path }) => path)).to.deep.equal(['promptCache.breakpoints[1]']);
    // Calls are the model's own.
    const none = bodyOf('openai', 'responses', 'gpt-5.6-sol', { promptCache: { breakpoints: [1] } });
    expect(none.body).not.to.have.property('prompt_cache_options');
    expect(none.losses.map(({ path }) => path)).to.deep.equal(['promptCache.breakpoints[0]']);
  });

  it('asks for the shortest lifetime that is long enough', () => {
    const sent = (ttl: '5m' | '30m' | '1h' | '12h') => {
      const { body } = bodyOf('openai', 'responses', 'gpt-5.6-sol', { promptCache: { ttl } });
      const older = bodyOf('openai', 'responses', 'gpt-5.4', { promptCache: { ttl } });
      expect(older.body).not.to.have.property('prompt_cache_options');
      const [mark] = JSON.stringify(anthropic({ promptCache: { ttl } })).match(/"ttl":"\w+"/) ?? ['default'];
      return [body['prompt_cache_options'], mark];
    };
    expect(sent('5m')).to.deep.equal([undefined, 'default']);
    expect(sent('30m')).to.deep.equal([undefined, '"ttl":"1h"']);
    expect(sent('1h')).to.deep.equal([{ ttl: '12h' }, '"ttl":"1h"']);
    expect(sent('12h')).to.deep.equal([{ ttl: '12h' }, '"ttl":"1h"']);
  });

  it('says that breakpoints are lost where there are none', () => {
    const promptCache = { breakpoints: [0] };
    for (const [vendor, wire, model] of [
      ['openai', 'responses', 'gpt-5-mini'],
      ['groq', 'chat_completions', 'llama-3.3-70b-versatile'],
      ['google', 'interactions', 'gemini-2.5-flash'],
    ] as const) {
      const { losses } = bodyOf(vendor, wire, model, { promptCache });
      expect(losses.map(({ path }) => path)).to.include('promptCache.breakpoints');
      expect(bodyOf(vendor, wire, model, { promptCache: 'auto' }).losses).to.deep.equal([]);
    }
  });

  it('divides the contents of Gemini at the breakpoints, and stores what has some after it', () => {
    const gemini = (options: Partial<GenerateOptions>) =>
      atOnce(
        WIRES.gemini.toRequest(
          normalizeOptions({ model: 'gemini-2.5-flash', ...REQUEST, ...options }),
          wireContext('google', 'gemini-2.5-flash'),
          false,
        ),
      );
    const input = [
      { role: 'user', content: 'The handbook.' },
      { role: 'user', content: 'What does it say?' },
    ] as const;
    const { body, cachedPrefix, losses } = gemini({ input, promptCache: { breakpoints: [0] } });
    expect(body['contents']).to.deep.equal([
      { role: 'user', parts: [{ text: 'The handbook.' }] },
      { role: 'user', parts: [{ text: 'What does it say?' }] },
    ]);
    expect(cachedPrefix).to.deep.equal({ ends: [1], lifetime: 300 });
    expect(losses).to.deep.equal([]);
    const whole = { breakpoints: [0, 2, 4], ttl: '1h' } as const;
    expect(gemini({ promptCache: whole }).cachedPrefix).to.deep.equal({ ends: [1, 3], lifetime: 3_600 });
    for (const options of [
      { promptCache: 'auto' },
      { promptCache: { key: 'k' } },
      { promptCache: whole, vendor: { google: { cachedContent: 'cachedContents/1' } } },
      { promptCache: { breakpoints: [4] } },
    ] as const)
      expect(gemini(options)).not.to.have.property('cachedPrefix');
    expect(gemini({ input }).body['contents']).to.have.length(1);
  });

  it('never divides the results of a turn', () => {
    const input = [
      TALK[0],
      call('a'),
      call('b'),
      output('a'),
      output('b'),
      { role: 'assistant', content: 'Done.' },
    ] as const;
    const options = normalizeOptions({ model: 'gemini-2.5-flash', input, promptCache: { breakpoints: [3] } });
    const { body, cachedPrefix } = atOnce(
      WIRES.gemini.toRequest(options, wireContext('google', 'gemini-2.5-flash'), false),
    );
    expect(body['contents']).to.have.length(4);
    expect(cachedPrefix?.ends).to.deep.equal([3]);
  });

  it('writes only the end of a history that has grown again', () => {
    const context = wireContext('anthropic', 'claude-sonnet-4-5');
    const base = normalizeOptions({ model: 'claude-sonnet-4-5', ...REQUEST, promptCache: 'auto' });
    const messagesOf = (length: number): readonly JsonObject[] => {
      const options = { ...base, input: adoptInput(base.input.slice(0, length)) };
      return atOnce(WIRES.anthropic_messages.toRequest(options, context, false)).body[
        'messages'
      ] as readonly JsonObject[];
    };
    messagesOf(1);
    const before = messagesOf(3);
    const after = messagesOf(5);
    expect(after[1]).to.equal(before[1]);
  });
});
