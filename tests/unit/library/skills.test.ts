import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { agent } from '../../../imports/library/Agent';
import { loadSkills } from '../../../imports/library/skills/loadSkills';
import { mcpSkillFiles } from '../../../imports/library/skills/mcpSkillFiles';
import type { SkillFiles } from '../../../imports/library/skills/SkillFiles';
import { answer, calling } from '../../../imports/testing/responses';
import { ScriptedProvider } from '../../../imports/testing/ScriptedProvider';
import { failure } from '../../support/failure';

const PDF =
  '---\nname: pdf\ndescription: >\n  Reads PDF files.\n  Use it for forms.\n---\n# PDF\nSee references/forms.md.\n';

/** Files of a store. */
function filesOf(files: Readonly<Record<string, string | Uint8Array>>): SkillFiles {
  return {
    list: () => Promise.resolve(Object.keys(files)),
    read: (path) => Promise.resolve(files[path] ?? ''),
  };
}

const skill = (fields: string): SkillFiles => filesOf({ 'x/SKILL.md': `---\n${fields}\n---\n` });

async function read(
  source: Parameters<typeof loadSkills>[0],
  args: { skill: string; path?: string },
): Promise<unknown> {
  const { tool } = await loadSkills(source);
  return tool.execute?.(args as never, {} as never);
}

describe('loadSkills', () => {
  it('tells names and descriptions, and reads instructions and files on demand', async () => {
    const source = filesOf({
      'pdf/SKILL.md': PDF,
      'pdf/references/forms.md': 'Forms.',
      'pdf/scripts/fill.sh': 'rm -rf /',
    });
    const { skills, instructions, tool } = await loadSkills(source);
    expect(skills).to.deep.equal([{ name: 'pdf', description: 'Reads PDF files. Use it for forms.' }]);
    expect(instructions).to.contain('- pdf: Reads PDF files. Use it for forms.').and.not.contain('# PDF');
    expect(tool).to.include({ name: 'read_skill', readOnly: true, idempotent: true });
    expect(await read(source, { skill: 'pdf' })).to.deep.equal({
      instructions: '# PDF\nSee references/forms.md.',
      files: ['references/forms.md', 'scripts/fill.sh'],
    });
    expect(await read(source, { skill: 'pdf', path: './references/forms.md' })).to.equal('Forms.');
    expect(await read(source, { skill: 'pdf', path: 'scripts/fill.sh' })).to.equal('rm -rf /');
  });

  it('refuses what breaks the specification', async () => {
    for (const [source, message] of [
      [skill('name: PDF\ndescription: x'), 'name'],
      [skill('name: a--b\ndescription: x'), 'name'],
      [skill('description: x'), 'name'],
      [skill('name: a'), 'description'],
      [skill(`name: a\ndescription: ${'x'.repeat(1_025)}`), 'description'],
      [skill('name: a\ndescription: use when: asked'), 'YAML'],
      [filesOf({ 'x/SKILL.md': 'name: a' }), '"---"'],
      [filesOf({ 'README.md': '' }), 'no skill'],
      [[skill('name: a\ndescription: x'), skill('name: a\ndescription: y')], 'Two skills'],
    ] as const)
      expect(await failure(loadSkills(source)))
        .to.have.property('message')
        .that.contains(message);
  });

  it('reads text of a bounded size only', async () => {
    const source = filesOf({
      'pdf/SKILL.md': PDF,
      'pdf/logo.png': new Uint8Array([0x89, 0xff, 0xfe]),
      'pdf/long.txt': 'x'.repeat(300 * 1024),
    });
    expect(await failure(read(source, { skill: 'pdf', path: 'logo.png' })))
      .to.have.property('message')
      .that.contains('not text');
    expect(await failure(read(source, { skill: 'pdf', path: 'long.txt' })))
      .to.have.property('message')
      .that.contains('256 KiB');
  });

  describe('from disk', () => {
    let folder: string;
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'skills-'));
      for (const [path, text] of [
        ['skills/pdf/SKILL.md', PDF],
        ['skills/pdf/references/forms.md', 'Forms.'],
        ['skills/pdf/nested/SKILL.md', PDF],
        ['skills/other/SKILL.md', PDF.replace('name: pdf', 'name: other')],
        ['skills/node_modules/x/SKILL.md', 'broken'],
        ['secret/key.txt', 'secret'],
      ] as const) {
        const file = join(folder, path);
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, text);
      }
      await symlink(join(folder, 'secret/key.txt'), join(folder, 'skills/pdf/key.txt'));
      await symlink(join(folder, 'secret'), join(folder, 'skills/pdf/more'));
    });
    after(() => rm(folder, { recursive: true }));

    it('reads the files of the skill, and nothing else by any path or link', async () => {
      const source = join(folder, 'skills');
      expect((await loadSkills(source)).skills.map(({ name }) => name)).to.deep.equal(['other', 'pdf']);
      expect(await read(source, { skill: 'pdf', path: 'references/forms.md' })).to.equal('Forms.');
      for (const path of [
        'key.txt',
        'more/key.txt',
        '../other/SKILL.md',
        '../../secret/key.txt',
        join(folder, 'secret/key.txt'),
        'references/../../other/SKILL.md',
        'references/..%2f..%2fother/SKILL.md',
        'references\\..\\SKILL.md',
        'references',
        '.',
        '',
        'references/forms.md\0',
        '__proto__',
      ])
        expect(await failure(read(source, { skill: 'pdf', path })), path).to.have.property(
          'failure',
          'invalid-arguments',
        );
    });

    it('refuses a file that has become a link since it was listed', async () => {
      const source = join(folder, 'late');
      await mkdir(join(source, 'pdf'), { recursive: true });
      await writeFile(join(source, 'pdf/SKILL.md'), PDF);
      const { diskSkillFiles } = await import('../../../imports/library/skills/diskSkillFiles');
      const files = diskSkillFiles(source);
      expect(await files.list()).to.deep.equal(['pdf/SKILL.md']);
      await rm(join(source, 'pdf'), { recursive: true });
      await symlink(join(folder, 'secret'), join(source, 'pdf'));
      expect(await failure(files.read('pdf/key.txt')))
        .to.have.property('message')
        .that.contains('link');
    });
  });

  it('reads the resources of an MCP server', async () => {
    const resources: Readonly<Record<string, string>> = {
      'skill://pdf/SKILL.md': PDF,
      'skill://pdf/references/forms.md': 'Forms.',
      'file:///etc/passwd': 'root',
    };
    const source = mcpSkillFiles({
      listResources: () => Promise.resolve(Object.keys(resources).map((uri) => ({ uri, name: uri }))),
      readResource: (uri) => Promise.resolve([{ uri, blob: Buffer.from(resources[uri] ?? '').toString('base64') }]),
    });
    expect(await read(source, { skill: 'pdf' })).to.have.deep.property('files', ['references/forms.md']);
    expect(await read(source, { skill: 'pdf', path: 'references/forms.md' })).to.equal('Forms.');
    expect(await failure(read(source, { skill: 'pdf', path: 'file:///etc/passwd' }))).to.be.an('error');
  });

  it('gives an agent the catalog after its instructions, and the tool', async () => {
    const skills = await loadSkills(filesOf({ 'pdf/SKILL.md': PDF }));
    const provider = new ScriptedProvider([
      calling({ name: 'read_skill', arguments: { skill: 'pdf' } }),
      answer('Read.'),
    ]);
    const { text } = await agent({ provider, instructions: 'Be brief.', skills }).generate('Fill this form.');
    expect(text).to.equal('Read.');
    expect(provider.calls.map(({ options }) => options.instructions)).to.deep.equal(
      Array.from({ length: 2 }, () => `Be brief.\n\n${skills.instructions}`),
    );
    expect(JSON.stringify(provider.calls[1]?.options.input)).to.contain('# PDF');
  });
});
