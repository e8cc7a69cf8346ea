/** What the simulated vendors read of a request from their caches of earlier ones. */
import { expect } from 'chai';
import type { JsonObject, VendorName, WireName } from '../../../imports/business/ai/domain/types/VendorTypes';
import { PromptCache } from '../../../imports/simulator/model/PromptCache';
import { ResponseArchive } from '../../../imports/simulator/wires/responses/ResponseArchive';

/** A thousand tokens, about as many as the least that is cached. */
const LONG = 'word '.repeat(1_000);
const user = (text: string, more: object = {}) => ({
  role: 'user',
  content: [{ type: 'input_text', text, ...more }],
});
const assistant = (text: string) => ({ role: 'assistant', content: [{ type: 'output_text', text }] });
const BREAKPOINT = { prompt_cache_breakpoint: { mode: 'explicit' } };
const NEW = 'gpt-5.6-sol';

function cacheOf(vendor: VendorName, wire: WireName, model: string) {
  const cache = new PromptCache();
  return (body: JsonObject) => {
    const input = JSON.stringify(body).length / 4;
    const { cached = 0, written = 0 } = cache.use(
      { vendor, model, body, headers: {}, archive: new ResponseArchive(1) },
      wire,
      input,
    );
    return { share: Math.round((cached / input) * 100) / 100, cached, written };
  };
}

describe('the simulated caches of prompts', () => {
  it('read what an earlier request ended with, from GPT-5.6 on', () => {
    const send = cacheOf('openai', 'responses', NEW);
    const first = [user(LONG)];
    expect(send({ input: first }).share).to.equal(0);
    expect(send({ input: [...first, assistant('Yes.'), user('And?')] }).share).to.be.above(0.9);
    // An answer that another request has given is no place to look at.
    expect(send({ input: [user(`${LONG}.`), assistant('Yes.')] }).share).to.equal(0);
  });

  it('write up to explicit breakpoints only, in their mode', () => {
    const send = cacheOf('openai', 'responses', NEW);
    const prompt_cache_options = { mode: 'explicit' };
    const input = [user(LONG, BREAKPOINT), user(LONG)];
    const { written } = send({ input, prompt_cache_options });
    expect(send({ input, prompt_cache_options })).to.include({ cached: written, written: 0 });
    expect(send({ input: [user(LONG), user(LONG)], prompt_cache_options })).to.include({ cached: 0, written: 0 });
    // The mark is no part of the prompt.
    expect(send({ input: [user(LONG), user(LONG)] }).cached).to.be.above(written * 0.9);
  });

  it('keep what has another key, other tools or another model apart', () => {
    const send = cacheOf('openai', 'responses', 'gpt-5.4');
    const body = { input: [user(LONG)], prompt_cache_key: 'a', tools: [{ type: 'function', name: 'a' }] };
    send(body);
    expect(send(body).share).to.be.above(0.9);
    expect(send({ ...body, prompt_cache_key: 'b' }).share).to.equal(0);
    expect(send({ ...body, tools: [...body.tools, { type: 'function', name: 'b' }] }).share).to.be.below(0.1);
  });

  it('leave deferred tools of Anthropic out, until the conversation refers to them', () => {
    const send = cacheOf('anthropic', 'anthropic_messages', 'claude-sonnet-4-5');
    const mark = { cache_control: { type: 'ephemeral' } };
    const tools = [{ name: 'find' }, { name: 'late', defer_loading: true }];
    const messages = [{ role: 'user', content: [{ type: 'text', text: LONG, ...mark }] }];
    send({ tools, messages });
    expect(send({ tools: [...tools, { name: 'later', defer_loading: true }], messages }).share).to.be.above(0.9);
    expect(send({ tools: [...tools, { name: 'now' }], messages }).share).to.equal(0);
  });
});
