import { expect } from 'chai';
import { loadDraft, storeDraft } from '../../../../imports/ui/playground/draftStorage';
import { NO_MESSAGE, NO_SETTINGS, reducePlayground } from '../../../../imports/ui/playground/playgroundState';
import type { Lane, PlaygroundState, Turn } from '../../../../imports/ui/playground/playgroundState';
import { toLoadActions, toPromptContent } from '../../../../imports/ui/playground/promptContent';
import { checkSettings, toRunSettings, toStartRequest } from '../../../../imports/ui/playground/toRequest';

const lane = (id: string, ...turns: readonly Turn[]): Lane => ({
  id,
  conversationId: `c-${id}`,
  providerId: 'openai',
  model: '',
  turns,
});
const turn = (name: string, fields: Partial<Turn> = {}): Turn => ({
  messageId: `m-${name}`,
  requestId: `r-${name}`,
  ...fields,
});
const message = (text: string) => ({ text, attachments: [] });
const state = (...lanes: readonly Lane[]): PlaygroundState => ({ settings: NO_SETTINGS, lanes, draft: NO_MESSAGE });
const messagesOf = ({ lanes }: PlaygroundState) => lanes.map(({ turns }) => turns.map(({ requestId }) => requestId));

class MemoryStorage {
  readonly items = new Map<string, string>();
  readonly maxLength: number;

  constructor(maxLength = Infinity) {
    this.maxLength = maxLength;
  }

  getItem(key: string): string | null {
    return this.items.get(key) ?? null;
  }

  setItem(key: string, value: string): void {
    if (value.length > this.maxLength) throw new Error('QuotaExceededError');
    this.items.set(key, value);
  }

  removeItem(key: string): void {
    this.items.delete(key);
  }
}
const storage = (maxLength?: number): Storage => new MemoryStorage(maxLength) as unknown as Storage;

describe('reducePlayground', () => {
  it('sends a message to every lane and empties the draft', () => {
    const before = { ...state(lane('a'), lane('b')), draft: message('Hi') };
    const turns = new Map([
      ['a', turn('1a')],
      ['b', turn('1b')],
    ]);
    const after = reducePlayground(before, { type: 'send', turns });
    expect(messagesOf(after)).to.deep.equal([['r-1a'], ['r-1b']]);
    expect(after.draft).to.deep.equal(NO_MESSAGE);
  });

  it('replaces a message that is sent again in the lanes that have it, and drops what came after it', () => {
    const before = state(
      lane('a', turn('1'), turn('2', { messageId: 'm' }), turn('3')),
      lane('b', turn('4', { messageId: 'm' })),
      lane('c', turn('5')),
    );
    const turns = new Map([
      ['a', turn('2x')],
      ['b', turn('4x')],
    ]);
    const after = reducePlayground(before, { type: 'resend', messageId: 'm', turns });
    expect(messagesOf(after)).to.deep.equal([['r-1', 'r-2x'], ['r-4x'], ['r-5']]);
  });

  it('keeps at least one lane and at most four', () => {
    let current = state(lane('a'));
    expect(reducePlayground(current, { type: 'remove-lane', laneId: 'a' }).lanes).to.have.length(1);
    for (const id of ['b', 'c', 'd', 'e']) current = reducePlayground(current, { type: 'add-lane', lane: lane(id) });
    expect(current.lanes.map(({ id }) => id)).to.deep.equal(['a', 'b', 'c', 'd']);
  });

  it('records the run of a request, or why it was refused', () => {
    let current = state(lane('a', turn('1'), turn('2', { error: 'No.' })));
    current = reducePlayground(current, { type: 'refused', requestId: 'r-1', error: 'Too many calls.' });
    current = reducePlayground(current, { type: 'started', requestId: 'r-2', executionId: 'x' });
    expect(current.lanes[0]?.turns[0]).to.include({ error: 'Too many calls.' });
    expect(current.lanes[0]?.turns[1]).to.deep.equal(turn('2', { executionId: 'x' }));
  });

  it('measures the time to the first text once', () => {
    let current = state(lane('a', turn('1', { sentAt: 1_000 })));
    current = reducePlayground(current, { type: 'first-text', requestId: 'r-1', at: 1_250 });
    current = reducePlayground(current, { type: 'first-text', requestId: 'r-1', at: 9_000 });
    expect(current.lanes[0]?.turns[0]?.firstText).to.equal(250);
  });
});

describe('toStartRequest', () => {
  it('continues the last run before the message, past messages that were refused', () => {
    const conversation = lane('a', turn('1', { executionId: 'x' }), turn('2', { error: 'No.' }), turn('3'));
    const request = { requestId: 'r', input: message('Go on'), position: 2 };
    expect(toStartRequest(conversation, toRunSettings(NO_SETTINGS), request)).to.deep.equal({
      requestId: 'r',
      providerId: 'openai',
      conversationId: 'c-a',
      input: 'Go on',
      continues: 'x',
      tools: [],
    });
  });

  it('repeats what was said before the first message of an opened run', () => {
    const before = [
      { type: 'message' as const, role: 'user' as const, content: [{ type: 'input_text' as const, text: 'A' }] },
    ];
    const request = { requestId: 'r', input: message('B'), position: 0 };
    expect(toStartRequest(lane('a', turn('1')), toRunSettings(NO_SETTINGS), request, before).input).to.deep.equal([
      ...before,
      { type: 'message', role: 'user', content: 'B' },
    ]);
  });

  it('sends images and files before the text', () => {
    const attachments = [
      { id: '1', kind: 'image', name: 'a.png', size: 3, dataUrl: 'data:image/png;base64,AAAA' },
      { id: '2', kind: 'file', name: 'b.pdf', size: 3, dataUrl: 'data:application/pdf;base64,AAAA' },
    ] as const;
    const request = { requestId: 'r', input: { text: 'What?', attachments }, position: 0 };
    expect(toStartRequest(lane('a'), toRunSettings(NO_SETTINGS), request).input).to.deep.equal([
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
          { type: 'input_file', filename: 'b.pdf', file_data: 'data:application/pdf;base64,AAAA' },
          { type: 'input_text', text: 'What?' },
        ],
      },
    ]);
  });

  it('reads the settings, and leaves out those that are blank', () => {
    const settings = { ...NO_SETTINGS, instructions: ' ', temperature: '0', maxOutputTokens: '50', schema: '{}' };
    expect(toRunSettings({ ...settings, reasoning: 'low', tools: ['clock'] })).to.deep.equal({
      temperature: 0,
      maxOutputTokens: 50,
      schema: {},
      reasoning: 'low',
      tools: ['clock'],
    });
  });

  it('names the settings that are invalid', () => {
    expect(checkSettings(NO_SETTINGS)).to.deep.equal({});
    for (const temperature of ['3', '-1', 'hot', 'NaN', 'Infinity'])
      expect(checkSettings({ ...NO_SETTINGS, temperature }), temperature).to.have.keys('temperature');
    for (const maxOutputTokens of ['0', '1.5', 'many', '1000001'])
      expect(checkSettings({ ...NO_SETTINGS, maxOutputTokens }), maxOutputTokens).to.have.keys('maxOutputTokens');
    expect(checkSettings({ ...NO_SETTINGS, schema: '[]' })).to.have.keys('schema');
  });
});

describe('the stored draft', () => {
  it('survives a reload without the messages of runs, which their records have', () => {
    const place = storage();
    const before: PlaygroundState = {
      settings: { ...NO_SETTINGS, instructions: 'Be brief.' },
      lanes: [lane('a', turn('1', { executionId: 'x', input: message('secret plan'), sentAt: 5, firstText: 9 }))],
      draft: message('Next'),
    };
    storeDraft(before, place);
    expect(place.getItem('bolide-playground')).to.not.include('secret plan');
    expect(loadDraft(place)).to.deep.equal({
      ...before,
      lanes: [lane('a', turn('1', { executionId: 'x', firstText: 9 }))],
    });
  });

  it('reports a message whose request was on its way', () => {
    const place = storage();
    storeDraft(state(lane('a', turn('1', { input: message('Hi') }))), place);
    expect(loadDraft(place)?.lanes[0]?.turns[0])
      .to.have.property('error')
      .that.matches(/reloaded before/);
  });

  it('leaves out files that are too large for the storage', () => {
    const place = storage();
    const dataUrl = `data:image/png;base64,${'A'.repeat(1_000_000)}`;
    const attachments = [{ id: '1', kind: 'image', name: 'a.png', size: 750_000, dataUrl }] as const;
    storeDraft({ ...state(lane('a')), draft: { text: 'Look', attachments } }, place);
    expect(loadDraft(place)?.draft).to.deep.equal(message('Look'));
  });

  it('starts empty after a storage that is full, foreign or broken', () => {
    const full = storage(10);
    storeDraft(state(lane('a')), full);
    expect(loadDraft(full)).to.equal(undefined);
    for (const stored of [
      '{',
      'null',
      '{"format":99}',
      '{"format":1,"settings":{},"lanes":[{}]}',
      '{"format":1,"settings":{},"lanes":[]}',
    ]) {
      const place = storage();
      place.setItem('bolide-playground', stored);
      expect(loadDraft(place), stored).to.equal(undefined);
    }
  });
});

describe('A prompt', () => {
  const written: PlaygroundState = {
    settings: { ...NO_SETTINGS, instructions: 'Be brief.', temperature: '0.5', maxOutputTokens: '100' },
    lanes: [{ ...lane('a'), model: 'large' }, lane('b')],
    draft: message('Hello'),
  };
  const others = state({ ...lane('c'), providerId: 'google', model: 'small' }, lane('d'));
  const loadedFor = (...providerIds: readonly string[]): PlaygroundState =>
    toLoadActions(toPromptContent(written), others, providerIds).reduce(reducePlayground, others);

  it('is loaded with what it was saved with, its model in the first lane', () => {
    const { settings, draft } = written;
    const lanes = [{ ...lane('c'), model: 'large' }, lane('d')];
    expect(loadedFor('openai')).to.deep.equal({ settings, lanes, draft });
  });

  it('leaves the model alone if its provider is not the user’s to use', () => {
    expect(loadedFor('groq').lanes).to.deep.equal(others.lanes);
  });
});
