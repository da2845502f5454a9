/* SPDX-License-Identifier: MIT */
/* leak_python.c - a C extension: leak_python.decode(bytes) loses a copy of its argument. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static char *leak_token(const char *text, Py_ssize_t size)
{
	char *token = malloc((size_t)size);

	if (token)
		memcpy(token, text, (size_t)size);
	return token;
}

static PyObject *decode(PyObject *self, PyObject *args)
{
	const char *text;
	Py_ssize_t size;

	(void)self;
	if (!PyArg_ParseTuple(args, "y#", &text, &size))
		return NULL;
	const char *volatile token = leak_token(text, size);
	if (!token)
		return PyErr_NoMemory();
	return PyLong_FromLong(size ? token[size - 1] : 0);
}

static PyMethodDef methods[] = {{"decode", decode, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT, "leak_python", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_leak_python(void)
{
	return PyModule_Create(&module);
}
