/** Reads the project's Markdown pages: code blocks, headings, links and tables. */
import { readFileSync } from 'node:fs';
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

export const ROOT = join(__dirname, '../../..');

export interface Page {
  /** Relative to the repository's root. */
  readonly path: string;
  readonly text: string;
}

export interface CodeBlock {
  /** `docs/quick-start.md:12` */
  readonly at: string;
  readonly page: string;
  readonly language: string;
  readonly code: string;
  /** Why the block cannot run here, from a comment before it: `<!-- not run: needs the meteor tool -->`. */
  readonly notRun?: string;
  /** The block belongs to the program of the block before it: `<!-- continues -->`. */
  readonly continues: boolean;
}

export interface Link {
  readonly at: string;
  readonly target: string;
}

const SKIPPED_FOLDERS = new Set(['node_modules', '.git', '.data', '.meteor', '.build', 'build', 'fixtures']);

/** Every Markdown page of the repository, except for what came with recorded fixtures. */
export function readPages(folder = ROOT): readonly Page[] {
  return readdirSync(folder, { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return SKIPPED_FOLDERS.has(entry.name) ? [] : readPages(path);
      return entry.name.endsWith('.md') ? [{ path: relative(ROOT, path), text: readFileSync(path, 'utf8') }] : [];
    });
}

export function readPage(path: string): Page {
  return { path, text: readFileSync(join(ROOT, path), 'utf8') };
}

export function codeBlocksOf({ path, text }: Page): readonly CodeBlock[] {
  const blocks: CodeBlock[] = [];
  const lines = text.split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const fence = /^```(\w*)/.exec(lines[index] ?? '');
    if (fence === null) continue;
    const start = index + 1;
    do index += 1;
    while (index < lines.length && !(lines[index] ?? '').startsWith('```'));
    const comment = commentBefore(lines, start - 2);
    const notRun = /^not run: (.+)$/.exec(comment)?.[1];
    blocks.push({
      at: `${path}:${start}`,
      page: path,
      language: fence[1] ?? '',
      code: lines.slice(start, index).join('\n'),
      continues: comment === 'continues',
      ...(notRun === undefined ? {} : { notRun }),
    });
  }
  return blocks;
}

/** The text of an HTML comment on the line before a block; one blank line may stand between them. */
function commentBefore(lines: readonly string[], at: number): string {
  const line = (lines[at] ?? '').trim() === '' ? lines[at - 1] : lines[at];
  return /^<!-- (.+) -->$/.exec((line ?? '').trim())?.[1] ?? '';
}

/** The page without its code blocks. */
export function proseOf({ text }: Page): string {
  return text.replace(/^```[^]*?^```/gm, (block) => block.replace(/[^\n]/g, ''));
}

/** The anchors of a page's headings, as GitHub makes them. */
export function anchorsOf(page: Page): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of proseOf(page).matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let copy = 1; anchors.has(anchor); copy += 1) anchor = `${slug}-${copy}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** The part of a page below a heading of level 2, up to the next. @throws Error if the page has no such heading */
export function sectionOf({ path, text }: Page, heading: string): Page {
  const section = text.split(/^## /m).find((each) => each.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`${path} has no section "${heading}".`);
  return { path, text: section };
}

export function linksOf(page: Page): readonly Link[] {
  return proseOf(page)
    .split('\n')
    .flatMap((line, index) =>
      [...line.replace(/`[^`]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => ({
        at: `${page.path}:${index + 1}`,
        target,
      })),
    );
}

/** The cells of every row of every table, header and separator rows included. */
export function tableRowsOf(page: Page): readonly (readonly string[])[] {
  return proseOf(page)
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .replace(/^\||\|\s*$/g, '')
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll('\\|', '|')),
    );
}

/** What stands in backticks in a text. */
export function codeIn(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}
