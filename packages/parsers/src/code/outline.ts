import type { Node } from 'web-tree-sitter';

/** Where an element of code begins, and the symbols that enclose it. */
export interface Cut {
  at: number;
  context: string[];
}

/** Declarations that stand for themselves. */
const UNIT =
  /^(?:function_definition|function_declaration|generator_function_declaration|method_definition|method_declaration|method_signature|function_item|function_signature_item|macro_definition|constructor_declaration|compact_constructor_declaration|destructor_declaration|operator_declaration|singleton_method|method|struct_item|enum_item|union_item|type_declaration|type_item|type_alias_declaration|type_definition|enum_declaration|enum_specifier|enum_definition|property_declaration|abstract_method_signature|preproc_function_def)$/;
/** Declarations with members. */
const CONTAINER =
  /^(?:class_definition|class_declaration|abstract_class_declaration|interface_declaration|trait_declaration|class|module|internal_module|impl_item|trait_item|mod_item|namespace_definition|namespace_declaration|class_specifier|struct_specifier|struct_declaration|record_declaration|annotation_type_declaration|linkage_specification|object_declaration)$/;
/** What stands around a declaration without being one. */
const WRAPPER = /^(?:export_statement|decorated_definition|template_declaration|ambient_declaration|expression_statement)$/;
const LEADING = /comment|^attribute_item$|^decorator$|^inner_attribute_item$/;

/** A container up to this length (UTF-16 units) is one element; a longer one is parted at its members. */
const WHOLE = 600;
/** Statements, imports and fields between declarations are taken together up to about this length. */
const GROUP = 800;
/** From this length on a function names itself among the symbols that enclose it: pieces of it need its signature. */
const LONG = 800;
const MAX_SIGNATURE = 160;
const MAX_DEPTH = 12;

/** Cuts a source text before each declaration, its comments and attributes included. The pieces cover the text. */
export function outline(root: Node, text: string): Cut[] {
  const cuts: Cut[] = [];
  // Whether what was cut off last is whole, so that what follows begins again.
  let endsWithUnit = false;
  walk(root.namedChildren, [], 0);
  return cuts;

  function walk(children: readonly (Node | null)[], context: string[], depth: number): void {
    let lead: Node | undefined;
    let last: Node | undefined;
    let groupStart: number | undefined;
    for (const child of children) {
      if (child === null) continue;
      if (LEADING.test(child.type) && !isTrailing(child, last)) {
        // A comment parted by a blank line from what follows stands for itself.
        if (lead === undefined || child.startPosition.row > endRow(last) + 1) lead = child;
        last = child;
        continue;
      }
      const isAttached = lead !== undefined && last !== undefined && child.startPosition.row <= endRow(last) + 1;
      const start = isAttached ? (lead?.startIndex ?? child.startIndex) : child.startIndex;
      const declaration = declarationOf(child);
      if (declaration === undefined) {
        const from = lead?.startIndex ?? child.startIndex;
        if (groupStart === undefined || from - groupStart > GROUP) {
          if (depth === 0 || groupStart !== undefined || cuts.length === 0 || endsWithUnit) cut(from, context);
          groupStart = from;
        }
        endsWithUnit = false;
      } else {
        if (lead !== undefined && !isAttached && groupStart === undefined) cut(lead.startIndex, context);
        groupStart = undefined;
        const length = child.endIndex - start;
        const isContainer = CONTAINER.test(declaration.type);
        cut(start, !isContainer && length > LONG ? [...context, signatureOf(declaration)] : context);
        const body = bodyOf(declaration);
        endsWithUnit = true;
        if (isContainer && length > WHOLE && body !== undefined && depth < MAX_DEPTH) {
          endsWithUnit = false;
          walk(body.namedChildren, [...context, signatureOf(declaration)], depth + 1);
          endsWithUnit = true;
        }
      }
      lead = undefined;
      last = child;
    }
    if (lead !== undefined && (groupStart === undefined || depth === 0)) cut(lead.startIndex, context);
  }

  function cut(at: number, context: string[]): void {
    if (cuts.at(-1)?.at !== at) cuts.push({ at, context });
  }

  function signatureOf(declaration: Node): string {
    const body = bodyOf(declaration);
    return text
      .slice(declaration.startIndex, body === undefined ? declaration.endIndex : body.startIndex)
      .replace(/\s+/g, ' ')
      .replace(/\s*[{:]\s*$/, '')
      .trim()
      .slice(0, MAX_SIGNATURE);
  }
}

function endRow(node: Node | undefined): number {
  if (node === undefined) return -2;
  // Line comments of some grammars end at the start of the next line.
  return node.endPosition.column === 0 ? node.endPosition.row - 1 : node.endPosition.row;
}

/** A comment behind code on the same line. */
function isTrailing(comment: Node, before: Node | undefined): boolean {
  return before !== undefined && comment.startPosition.row === endRow(before);
}

function declarationOf(node: Node): Node | undefined {
  if (UNIT.test(node.type) || CONTAINER.test(node.type)) return node;
  if (/^(?:lexical_declaration|variable_declaration)$/.test(node.type)) return hasFunctionValue(node) ? node : undefined;
  if (!WRAPPER.test(node.type)) return undefined;
  for (const child of node.namedChildren) {
    const declaration = child === null ? undefined : declarationOf(child);
    if (declaration !== undefined) return declaration;
  }
  return undefined;
}

function hasFunctionValue(node: Node): boolean {
  return node.namedChildren.some((child) =>
    /^(?:arrow_function|function_expression|function|class)$/.test(child?.childForFieldName('value')?.type ?? ''),
  );
}

function bodyOf(node: Node): Node | undefined {
  return (
    node.childForFieldName('body') ??
    node.namedChildren.find(
      (child) => /(?:_body|_list|^block|_block)$/.test(child?.type ?? '') && !/parameter|argument/.test(child?.type ?? ''),
    ) ??
    undefined
  );
}
