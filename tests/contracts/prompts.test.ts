/** Saved prompts on every database: names, versions, who sees and who may change them. */
import { expect } from 'chai';
import { PROMPT_OPERATIONS } from '../../imports/business/prompts/application/promptOperations';
import { Prompts } from '../../imports/business/prompts/application/Prompts';
import { bindOperations } from '../../imports/host/bindOperations';
import type { OperationsOf } from '../../imports/host/bindOperations';
import type { Actor } from '../../imports/business/ai/domain/types/Actor';
import { openPromptStore } from '../../imports/business/prompts/infrastructure/DocumentPromptStore';
import { DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { failure } from '../support/failure';

const ANN: Actor = { userId: 'ann', source: 'http' };
const BOB: Actor = { userId: 'bob', source: 'http' };
const ADMIN: Actor = { userId: 'root', isAdmin: true, source: 'http' };

for (const [name, open] of Object.entries(DATABASES)) {
  describe(`ai.prompts on ${name}`, () => {
    let opened: TestDatabase;
    let prompts: OperationsOf<typeof PROMPT_OPERATIONS>;
    const openPrompts = async () =>
      bindOperations(PROMPT_OPERATIONS, { prompts: new Prompts({ store: await openPromptStore(opened.database) }) });
    beforeEach(async () => {
      opened = await open();
      prompts = await openPrompts();
    });
    afterEach(() => opened.close());

    const namesOf = async (actor: Actor): Promise<readonly string[]> =>
      (await prompts['ai.prompts.list'](actor)).prompts.map((prompt) => prompt.name);

    it('makes a version of each save under the same name, and loads every one', async () => {
      const content = { input: 'Hello $name', schema: { type: 'object', properties: { 'a.b': { $ref: '#' } } } };
      const first = await prompts['ai.prompts.save'](ANN, { name: 'Greeting', content });
      const second = await prompts['ai.prompts.save'](ANN, { name: ' Greeting ', content: { input: 'Hi' } });
      expect(first).to.include({ name: 'Greeting', version: 1, shared: false });
      expect(second).to.include({ _id: first._id, name: 'Greeting', version: 2 });
      expect((await prompts['ai.prompts.list'](ANN)).prompts).to.deep.equal([second]);
      const newest = await prompts['ai.prompts.get'](ANN, { promptId: first._id });
      expect(newest.content).to.deep.equal({ input: 'Hi' });
      expect(newest.versions.map(({ version }) => version)).to.deep.equal([2, 1]);
      const oldest = await prompts['ai.prompts.get'](ANN, { promptId: first._id, version: 1 });
      expect(oldest).to.include({ version: 1, updatedAt: first.updatedAt });
      expect(oldest.content).to.deep.equal(content);
    });

    it('keeps every version of two processes that save at the same time', async () => {
      const other = await openPrompts();
      await Promise.all(
        Array.from({ length: 6 }, (_, index) =>
          (index % 2 === 0 ? prompts : other)['ai.prompts.save'](ANN, {
            name: 'Race',
            content: { input: String(index) },
          }),
        ),
      );
      const { prompts: listed } = await prompts['ai.prompts.list'](ANN);
      expect(listed.map(({ version }) => version)).to.deep.equal([6]);
      const loaded = await Promise.all(
        [1, 2, 3, 4, 5, 6].map((version) => prompts['ai.prompts.get'](ANN, { promptId: listed[0]?._id, version })),
      );
      expect(loaded.map(({ content }) => content.input).sort()).to.deep.equal(['0', '1', '2', '3', '4', '5']);
    });

    it('removes the oldest versions beyond twenty', async () => {
      for (let index = 1; index <= 22; index += 1)
        await prompts['ai.prompts.save'](ANN, { name: 'Long', content: { input: String(index) } });
      const promptId = (await prompts['ai.prompts.list'](ANN)).prompts[0]?._id;
      const { versions } = await prompts['ai.prompts.get'](ANN, { promptId });
      expect([versions.length, versions[0]?.version, versions.at(-1)?.version]).to.deep.equal([20, 22, 3]);
      const error = await failure(prompts['ai.prompts.get'](ANN, { promptId, version: 2 }));
      expect(error).to.include({
        path: 'version',
        message: '"version" is not stored; the prompt has versions 3 to 22.',
      });
    });

    it('shows users their own prompts and the shared ones, by name', async () => {
      await prompts['ai.prompts.save'](BOB, { name: 'Mine', content: {} });
      await prompts['ai.prompts.save'](ADMIN, { name: 'All', shared: true, content: {} });
      await prompts['ai.prompts.save'](ADMIN, { name: 'Private', content: {} });
      expect(await namesOf(BOB)).to.deep.equal(['All', 'Mine']);
      expect(await namesOf(ANN)).to.deep.equal(['All']);
    });

    it('keeps a shared prompt apart from a user’s own of the same name', async () => {
      const shared = await prompts['ai.prompts.save'](ADMIN, { name: 'Same', shared: true, content: { input: 'a' } });
      const own = await prompts['ai.prompts.save'](ANN, { name: 'Same', content: { input: 'b' } });
      expect(own._id).to.not.equal(shared._id);
      expect(own.version).to.equal(1);
      expect((await prompts['ai.prompts.get'](ANN, { promptId: shared._id })).content.input).to.equal('a');
    });

    it('lets only admins save and remove shared prompts', async () => {
      const { _id: promptId } = await prompts['ai.prompts.save'](ADMIN, { name: 'All', shared: true, content: {} });
      const save = await failure(prompts['ai.prompts.save'](ANN, { name: 'All', shared: true, content: {} }));
      expect(save).to.have.property('code', 'permission-denied');
      const remove = await failure(prompts['ai.prompts.remove'](ANN, { promptId }));
      expect(remove).to.have.property('code', 'permission-denied');
      expect(await prompts['ai.prompts.remove'](ADMIN, { promptId })).to.deep.equal({ removed: true });
      expect(await namesOf(ANN)).to.deep.equal([]);
    });

    it('gives requests the labelled version, the newest without a label, and a user’s own before the shared one', async () => {
      const source = new Prompts({ store: await openPromptStore(opened.database) });
      const said = async (reference: object, userId = 'ann'): Promise<string> => {
        const { version, instructions } = await source.resolve(userId, { name: 'Tone', ...reference });
        return `${version} ${instructions}`;
      };
      const save = (instructions: string) =>
        prompts['ai.prompts.save'](ANN, { name: 'Tone', content: { instructions } });
      const { _id: promptId } = await save('first');
      await save('Be {{ tone }}, {{tone}}.');
      expect(await said({ variables: { tone: 'dry {{other}}' } })).to.equal('2 Be dry {{other}}, dry {{other}}.');
      expect(await failure(said({}))).to.have.property('path', 'prompt.variables.tone');
      const label = (version: number | null) =>
        prompts['ai.prompts.label'](ANN, { promptId, label: 'production', version });
      expect((await label(1)).labels).to.deep.equal({ production: 1 });
      expect(await said({})).to.equal('1 first');
      for (let count = 0; count < 25; count += 1) await save(`later ${count}`);
      expect(await said({ label: 'production' })).to.equal('1 first');
      expect(await said({ version: 27 })).to.equal('27 later 24');
      expect(await failure(said({ version: 2 }))).to.have.property('path', 'prompt.version');
      expect(await failure(said({ label: 'beta' }))).to.have.property('path', 'prompt.label');
      expect((await label(null)).labels).to.deep.equal({});
      expect(await said({})).to.equal('27 later 24');
      expect(await failure(said({}, 'bob'))).to.have.property('path', 'prompt.name');
      await prompts['ai.prompts.save'](ADMIN, { name: 'Tone', shared: true, content: { instructions: 'shared' } });
      expect(await said({}, 'bob')).to.equal('1 shared');
      expect(await said({})).to.equal('27 later 24');
      expect(await said({ shared: true })).to.equal('1 shared');
    });

    it('does not reveal that another user’s prompt exists', async () => {
      const { _id: promptId } = await prompts['ai.prompts.save'](BOB, { name: 'Mine', content: {} });
      for (const actor of [ANN, ADMIN]) {
        const errors = [
          await failure(prompts['ai.prompts.get'](actor, { promptId })),
          await failure(prompts['ai.prompts.remove'](actor, { promptId })),
          await failure(prompts['ai.prompts.get'](actor, { promptId: 'unknown' })),
        ];
        for (const error of errors) expect(error).to.include({ message: 'There is no such prompt.', httpStatus: 404 });
      }
    });

    it('names the field of an invalid argument', async () => {
      for (const [argument, path] of [
        [{ name: '  ', content: {} }, 'name'],
        [{ name: 'A\nB', content: {} }, 'name'],
        [{ name: 'A' }, 'content'],
        [{ name: 'A', content: { temperature: 3 } }, 'content.temperature'],
        [{ name: 'A', content: { tools: ['no tool'] } }, 'content.tools[0]'],
        [{ name: 'A', content: { schema: [] } }, 'content.schema'],
        [{ name: 'A', content: { images: [] } }, 'content.images'],
        [{ name: 'A', content: { input: 'x'.repeat(400_001) } }, 'content'],
      ] as const)
        expect(await failure(prompts['ai.prompts.save'](ANN, argument)), path).to.have.property('path', path);
      const anonymous = { userId: '', source: 'http' } as const;
      expect(await failure(prompts['ai.prompts.list'](anonymous))).to.have.property('code', 'auth-failed');
    });
  });
}
