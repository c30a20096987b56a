/// Fields of a form, read from the JSON schema of the settings.
import type { JsonValue } from '../../protocol/types';

export interface Field {
  /** Dotted, as in the file. */
  name: string;
  description: string;
  kind: 'boolean' | 'number' | 'text' | 'choice' | 'list' | 'other';
  choices: string[];
}

type Schema = { [key: string]: JsonValue | undefined };

const isObject = (value: JsonValue | undefined): value is { [key: string]: JsonValue } => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Lists the settings of a schema; tables are opened two levels deep. */
export function fieldsOf(root: JsonValue): Field[] {
  if (!isObject(root)) return [];
  const definitions = isObject(root.$defs) ? root.$defs : isObject(root.definitions) ? root.definitions : {};
  const fields: Field[] = [];
  const visit = (schema: Schema, prefix: string, depth: number) => {
    const properties = isObject(schema.properties) ? schema.properties : {};
    for (const [name, raw] of Object.entries(properties)) {
      const full = prefix === '' ? name : `${prefix}.${name}`;
      const property = resolve(raw, definitions);
      if (depth < 2 && isObject(property.properties)) {
        visit(property, full, depth + 1);
        continue;
      }
      fields.push(fieldOf(full, isObject(raw) ? raw : {}, property, definitions));
    }
  };
  visit(root, '', 0);
  return fields;
}

function fieldOf(name: string, raw: Schema, schema: Schema, definitions: Schema): Field {
  const description = String(raw.description ?? schema.description ?? '');
  const choices = choicesOf(schema, definitions);
  if (choices.length > 0) return { name, description, kind: 'choice', choices };
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  if (types.includes('boolean')) return { name, description, kind: 'boolean', choices };
  if (types.includes('integer') || types.includes('number')) return { name, description, kind: 'number', choices };
  if (types.includes('string')) return { name, description, kind: 'text', choices };
  const items = types.includes('array') && schema.items !== undefined ? resolve(schema.items, definitions) : null;
  return { name, description, kind: items?.type === 'string' ? 'list' : 'other', choices };
}

function choicesOf(schema: Schema, definitions: Schema): string[] {
  if (Array.isArray(schema.enum)) return schema.enum.filter((each): each is string => typeof each === 'string');
  if (!Array.isArray(schema.oneOf)) return [];
  const found = schema.oneOf.map((each) => resolve(each, definitions)).flatMap((each) => (typeof each.const === 'string' ? [each.const] : Array.isArray(each.enum) ? (each.enum as string[]) : []));
  return found.length === schema.oneOf.length || found.length > 1 ? found : [];
}

/** Follows a reference, and takes the part of a choice that is not `null`. */
function resolve(raw: JsonValue | undefined, definitions: Schema): Schema {
  if (!isObject(raw)) return {};
  if (typeof raw.$ref === 'string') return resolve(definitions[raw.$ref.split('/').at(-1) ?? ''], definitions);
  for (const key of ['anyOf', 'allOf'] as const) {
    const list = raw[key];
    if (!Array.isArray(list)) continue;
    const real = list.filter((each) => !(isObject(each) && each.type === 'null'));
    if (real.length === 1) return resolve(real[0], definitions);
  }
  return raw;
}
