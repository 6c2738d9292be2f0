"""The rules of lint, in the order in which they are listed."""

from kbp.linter.rules import arguments, body, catalogue, frontmatter, keys, known, own, text, yaml
from kbp.linter.rules.base import Rule

RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        frontmatter.frontmatter_syntax,
        frontmatter.unquoted_hint,
        frontmatter.unquoted_value,
        yaml.value_cut_by_comment,
        frontmatter.unclosed_frontmatter,
        frontmatter.frontmatter_not_first,
        yaml.early_frontmatter_end,
        frontmatter.indented_continuation,
        text.byte_order_mark,
        frontmatter.tab_indent,
        frontmatter.duplicate_key,
        frontmatter.frontmatter_not_a_mapping,
        frontmatter.not_utf8,
        frontmatter.unreadable_file,
        frontmatter.too_large,
        text.empty_prompt,
        text.mixed_line_endings,
        yaml.yaml_feature,
        yaml.yaml_1_1_value,
        text.pointer_file,
        known.unknown_key,
        keys.key_type,
        keys.list_hint,
        keys.missing_description,
        known.renamed_key,
        keys.name_differs,
        keys.tool_pattern,
        known.instructions_key,
        arguments.undeclared_placeholder,
        arguments.unused_argument,
        arguments.required_with_default,
        arguments.duplicate_argument,
        arguments.argument_entry,
        arguments.arguments_shape,
        body.foreign_placeholder,
        catalogue.name_collision,
        catalogue.unusable_name,
        catalogue.document_in_prompts,
        known.dialect_mixed,
        own.unused_suppression,
    )
}
