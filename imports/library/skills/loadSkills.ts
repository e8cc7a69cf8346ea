/**
 * Agent Skills: folders with a `SKILL.md`, whose name and description the model is told, and whose instructions and
 * files it reads when it needs them. https://agentskills.io/specification
 */
import { LLMInvalidRequestError, ToolError } from '../../business/ai/domain/errors/LLMErrors';
import { invalid } from '../../business/ai/domain/util/arguments';
import { fieldsOf } from '../../business/ai/domain/util/json';
import type { RegisteredTool } from '../../business/ai/infrastructure/tools/ToolRegistry';
import { diskSkillFiles } from './diskSkillFiles';
import type { SkillFiles } from './SkillFiles';
import { MAX_FILE_BYTES } from './skillLimits';

export interface SkillSummary {
  readonly name: string;
  /** What the skill does, and when to use it. */
  readonly description: string;
}

/** Goes to `agent({ skills })`, or in two parts to a loop. */
export interface Skills {
  readonly skills: readonly SkillSummary[];
  /** Names and descriptions, for the instructions of runs that have the tool. */
  readonly instructions: string;
  /** Reads a skill, or one of its files. */
  readonly tool: RegisteredTool;
}

export interface SkillOptions {
  /** The tool's name, for a host with agents that have different skills. Default: `read_skill`. */
  readonly toolName?: string;
}

interface Skill extends SkillSummary {
  readonly files: SkillFiles;
  /** What the paths of its files begin with. */
  readonly root: string;
}

const MAIN = 'SKILL.md';
const NAME = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;
const MAX_DESCRIPTION = 1_024;

/**
 * @param sources folders of the disk, or files of another place
 * @throws LLMInvalidRequestError for a skill that breaks the specification, and for two of one name
 */
export async function loadSkills(
  sources: string | SkillFiles | readonly (string | SkillFiles)[],
  { toolName = 'read_skill' }: SkillOptions = {},
): Promise<Skills> {
  const skills = new Map<string, Skill>();
  for (const source of typeof sources === 'string' || 'list' in sources ? [sources] : sources) {
    const files = typeof source === 'string' ? diskSkillFiles(source) : source;
    for (const root of rootsIn(await files.list())) {
      const skill = await readSkill(files, root);
      if (skills.has(skill.name)) throw new LLMInvalidRequestError(`Two skills are named "${skill.name}".`);
      skills.set(skill.name, skill);
    }
  }
  if (skills.size === 0) throw new LLMInvalidRequestError(`There is no skill: no folder has a "${MAIN}".`);
  // In an order that no source decides, so that every process writes the same.
  const sorted = [...skills.values()].toSorted((left, right) => (left.name < right.name ? -1 : 1));
  return {
    skills: sorted.map(({ name, description }) => ({ name, description })),
    instructions: catalog(sorted, toolName),
    tool: readTool(new Map(sorted.map((skill) => [skill.name, skill])), toolName),
  };
}

/** The folders of skills. What is below one belongs to it. */
function rootsIn(paths: readonly string[]): readonly string[] {
  const roots = paths
    .filter((path) => path === MAIN || path.endsWith(`/${MAIN}`))
    .map((path) => path.slice(0, -MAIN.length))
    .toSorted((left, right) => left.length - right.length);
  return roots.filter((root, index) => !roots.slice(0, index).some((other) => root.startsWith(other)));
}

async function readSkill(files: SkillFiles, root: string): Promise<Skill> {
  const file = `${root}${MAIN}`;
  const { name, description } = fieldsOf(await frontMatter(textOf(await files.read(file), file), file));
  if (typeof name !== 'string' || !NAME.test(name))
    throw invalid(`${file}: name`, 'must be 1 to 64 lower-case letters, digits and single hyphens between them');
  if (typeof description !== 'string' || description.trim() === '' || description.length > MAX_DESCRIPTION)
    throw invalid(`${file}: description`, `must be a text of 1 to ${MAX_DESCRIPTION} characters`);
  return { name, description: description.trim().replace(/\s+/g, ' '), files, root };
}

const FRONT_MATTER = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

async function frontMatter(text: string, file: string): Promise<unknown> {
  const yaml = FRONT_MATTER.exec(text)?.[1];
  if (yaml === undefined) throw invalid(file, 'must begin with its name and description between two lines of "---"');
  const { parse } = await import('yaml');
  try {
    return parse(yaml);
  } catch (cause) {
    throw new LLMInvalidRequestError(`"${file}" does not begin with valid YAML. Quote texts with a colon.`, { cause });
  }
}

function catalog(skills: readonly Skill[], toolName: string): string {
  const list = skills.map(({ name, description }) => `- ${name}: ${description}`).join('\n');
  return (
    `Skills are instructions for tasks of a kind. When a task matches the description of one, read it with ${toolName} ` +
    'before you begin, and the files that it refers to when you need them. Reading a script does not run it.\n' +
    `<skills>\n${list}\n</skills>`
  );
}

function readTool(skills: ReadonlyMap<string, Skill>, name: string): RegisteredTool {
  return {
    name,
    description: 'Returns the instructions of a skill with a list of its files or, with "path", one of the files.',
    parameters: {
      type: 'object',
      properties: {
        skill: { type: 'string', enum: [...skills.keys()] },
        path: { type: 'string', description: `A file of the skill, as its list has it. Default: ${MAIN}.` },
      },
      required: ['skill'],
      additionalProperties: false,
    },
    idempotent: true,
    readOnly: true,
    execute: (args: { readonly skill: string; readonly path?: string }) => readFile(skills, args),
  };
}

/** Reads what is listed and nothing else, whatever a path looks like. */
async function readFile(
  skills: ReadonlyMap<string, Skill>,
  { skill: name, path = MAIN }: { readonly skill: string; readonly path?: string },
): Promise<unknown> {
  const skill = skills.get(name);
  if (skill === undefined) throw new ToolError('invalid-arguments', `There is no skill "${name}".`);
  const { files, root } = skill;
  const own = (await files.list()).flatMap((each) => (each.startsWith(root) ? [each.slice(root.length)] : []));
  const wanted = path.replace(/^\.\//, '');
  if (!own.includes(wanted))
    throw new ToolError('invalid-arguments', `The skill "${name}" has no file "${path}". It has: ${own.join(', ')}`);
  const text = textOf(await files.read(root + wanted), wanted);
  if (wanted !== MAIN) return text;
  return { instructions: text.replace(FRONT_MATTER, '').trim(), files: own.filter((each) => each !== MAIN) };
}

/** @throws ToolError for a file that is no text, or too long for a model */
function textOf(content: string | Uint8Array, file: string): string {
  if (content.length > MAX_FILE_BYTES)
    throw new ToolError('threw', `The file "${file}" is larger than ${MAX_FILE_BYTES / 1024} KiB.`);
  if (typeof content === 'string') return content;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    throw new ToolError('threw', `The file "${file}" is not text.`);
  }
}
