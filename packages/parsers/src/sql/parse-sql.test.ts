import { expect, it } from 'vitest';
import { expectLawful } from '../../test/laws.js';
import { parseAs } from '../../test/parse-file.js';

it.each([
  [
    'semicolons in texts, names and comments',
    '-- first; one\nSELECT \'a;b\', "c;d" FROM t;\n/* x; */ DELETE FROM t;\nSELECT 1',
    3,
  ],
  ['doubled and escaped quotes', "INSERT INTO t VALUES ('it''s; fine', 'a\\'; b');\nSELECT 2;", 2],
  ['dollar quotes', 'CREATE FUNCTION f() RETURNS int AS $body$ BEGIN; RETURN 1; END $body$ LANGUAGE plpgsql;\nSELECT f();', 2],
  [
    'bodies between begin and end',
    'CREATE OR REPLACE PROCEDURE p AS\nBEGIN\n  IF x THEN\n    SELECT 1;\n  END IF;\n  CASE x WHEN 1 THEN y; END CASE;\nEND;\nSELECT 2;',
    2,
  ],
  ['transactions, which have no body', 'BEGIN;\nUPDATE t SET a = 1;\nCOMMIT;', 3],
  [
    'delimiters of the MySQL client',
    'DELIMITER //\nCREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN SET a = 1; END//\nDELIMITER ;\nSELECT 1;',
    4,
  ],
  ['batches of SQL Server', 'CREATE TABLE a (b int)\nGO\nSELECT 1\nGO 5\n', 2],
])('parts statements: %s', async (_, sql, count) => {
  const document = await parseAs('a.sql', sql);
  expect(document.elements.map((element) => element.text)).toHaveLength(count);
  expect(document.text).toBe(sql);
  expectLawful(document);
});
