import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import ts from 'typescript';

const ROOT = join(__dirname, '../../../../..');
const PAGE = readFileSync(join(ROOT, 'docs/reference/ai-sdk-parts.md'), 'utf8');

/** The kinds of each table, as a type that is the union of their names. */
const KINDS = {
  Messages: "LanguageModelV4Message['role']",
  'Parts of user messages': "PartOf<'user'>",
  'Parts of assistant messages': "PartOf<'assistant'>",
  'Parts of tool messages': "PartOf<'tool'>",
  'Outputs of tool results': "LanguageModelV4ToolResultOutput['type']",
  'Parts of tool results': "Extract<LanguageModelV4ToolResultOutput, { type: 'content' }>['value'][number]['type']",
  'File data': "LanguageModelV4FilePart['data']['type']",
  'Generated content': "LanguageModelV4Content['type']",
  'Stream parts': "LanguageModelV4StreamPart['type']",
  'Call options': 'keyof LanguageModelV4CallOptions',
  'Response formats': "NonNullable<LanguageModelV4CallOptions['responseFormat']>['type']",
  Tools: "NonNullable<LanguageModelV4CallOptions['tools']>[number]['type']",
  'Tool choices': "LanguageModelV4ToolChoice['type']",
  'Finish reasons': "LanguageModelV4FinishReason['unified']",
} as const;

/** Resolves the unions with the compiler, from the types of the installed package. */
function readKinds(): ReadonlyMap<string, readonly string[]> {
  const file = join(ROOT, 'tests/unit/interop/aiSdk/model/kinds.virtual.ts');
  const source = [
    "import type * as AI from '@ai-sdk/provider';",
    'type LanguageModelV4Message = AI.LanguageModelV4Message;',
    'type LanguageModelV4ToolResultOutput = AI.LanguageModelV4ToolResultOutput;',
    'type LanguageModelV4FilePart = AI.LanguageModelV4FilePart;',
    'type LanguageModelV4Content = AI.LanguageModelV4Content;',
    'type LanguageModelV4StreamPart = AI.LanguageModelV4StreamPart;',
    'type LanguageModelV4CallOptions = AI.LanguageModelV4CallOptions;',
    'type LanguageModelV4ToolChoice = AI.LanguageModelV4ToolChoice;',
    'type LanguageModelV4FinishReason = AI.LanguageModelV4FinishReason;',
    'type Typed = { type: string };',
    "type PartOf<R> = Extract<LanguageModelV4Message, { role: R }> extends { content: (infer P extends Typed)[] } ? P['type'] : never;",
    ...Object.values(KINDS).map((type, index) => `export type Kinds${index} = ${type};`),
  ].join('\n');
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    module: ts.ModuleKind.Preserve,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    target: ts.ScriptTarget.ES2022,
    types: [],
    lib: ['lib.es2022.d.ts'],
  };
  const host = ts.createCompilerHost(options);
  const fileExists = host.fileExists.bind(host);
  const getSourceFile = host.getSourceFile.bind(host);
  host.fileExists = (name) => name === file || fileExists(name);
  host.getSourceFile = (name, version) =>
    name === file ? ts.createSourceFile(name, source, version) : getSourceFile(name, version);
  const program = ts.createProgram([file], options, host);
  const errors = program.getSemanticDiagnostics(program.getSourceFile(file));
  expect(errors.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))).to.deep.equal([]);
  const checker = program.getTypeChecker();
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)!)!);
  return new Map(
    Object.keys(KINDS).map((title, index) => {
      const type = checker.getDeclaredTypeOfSymbol(exported.find(({ name }) => name === `Kinds${index}`)!);
      const members = type.isUnion() ? type.types : [type];
      return [
        title,
        members.map((member) => {
          if (!member.isStringLiteral()) throw new Error(`${title}: ${checker.typeToString(member)} is not a name.`);
          return member.value;
        }),
      ];
    }),
  );
}

/** The first column of the table below a heading. */
function documentedKinds(title: string): readonly string[] {
  const section = PAGE.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name!);
}

describe('docs/reference/ai-sdk-parts.md', () => {
  let kinds: ReadonlyMap<string, readonly string[]>;
  before(() => {
    kinds = readKinds();
  });

  for (const title of Object.keys(KINDS))
    it(`has every kind of the package under "${title}", and no other`, () => {
      expect(documentedKinds(title)).to.have.members(kinds.get(title)!);
    });
});
